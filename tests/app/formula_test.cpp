#include "app/formula.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rubato::app {
namespace {

using testing::HasSubstr;

double value(const std::string& formula) {
  return value_of_formula(formula, {{"batch", 256}, {"base_batch", 64}, {"k", 4}});
}

// The column, from 0, and the clause.
void expect_error(const std::string& formula, std::size_t column, const std::string& clause) {
  try {
    FAIL() << formula << " = " << value(formula);
  } catch (const FormulaError& error) {
    EXPECT_EQ(error.column(), column) << formula;
    EXPECT_THAT(error.what(), HasSubstr(clause)) << formula;
  }
}

TEST(Formula, HasNumbersAsOptionsHaveThem) {
  EXPECT_EQ(value("0.05"), 0.05);
  EXPECT_EQ(value("5e-4"), 5e-4);
  EXPECT_EQ(value(".5"), 0.5);
  EXPECT_EQ(value(" 7\t"), 7);
}

TEST(Formula, KnowsItsNames) {
  EXPECT_EQ(value("0.05 * k"), 0.05 * 4);
  EXPECT_EQ(value("batch/base_batch"), 4);
}

TEST(Formula, MultipliesBeforeItAddsAndGoesFromLeftToRight) {
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("(2 + 3) * 4"), 20);
  EXPECT_EQ(value("2 - 3 - 4"), -5);
  EXPECT_EQ(value("64 / 4 / 2"), 8);
  EXPECT_EQ(value("-k * -(1 - 3)"), -8);
  EXPECT_EQ(value("2--3"), 5);
}

TEST(Formula, HasThreeFunctions) {
  EXPECT_EQ(value("min(5, k, 3 + 3)"), 4);
  EXPECT_EQ(value("max(5,k)"), 5);
  EXPECT_EQ(value("0.1 * sqrt(k)"), 0.2);
  EXPECT_EQ(value("sqrt ( 2 )"), std::sqrt(2.0));
}

TEST(Formula, SaysWhereItIsWrong) {
  expect_error("", 0, "ends where a number, a name or \"(\" is expected");
  expect_error("2 *", 3, "ends where a number, a name");
  expect_error("2 3", 2, "has \"3\" where an operator or the end is expected");
  expect_error("(1 + 2", 6, "ends where \")\" is expected");
  expect_error("2 * $", 4, "has \"$\" where a number, a name");
  expect_error("2 + batc", 4, "has the unknown name \"batc\"; did you mean \"batch\"?");
  expect_error("nothing", 0, "has the unknown name \"nothing\" (valid: ");
  expect_error("min 3", 4, "has \"3\" where \"(\" is expected");
  expect_error("1 + sqrt(1, 2)", 4, "sqrt takes one number");
  expect_error("1 + sqrt(-1)", 4, "takes the square root of a negative number");
  expect_error(".", 0, "has \".\" where a number is expected");
}

TEST(Formula, HasAFiniteValue) {
  expect_error("1 + k / (k - 4)", 6, "divides by zero");
  expect_error("1e308 * 10", 6, "comes to a number that is too large");
  expect_error("1e308 + 1e308", 6, "too large");
  expect_error(std::string(1000, '('), 64, "nested too deeply");
  expect_error(std::string(1000, '-') + "1", 64, "nested too deeply");
}

}  // namespace
}  // namespace rubato::app
