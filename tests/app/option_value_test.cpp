#include "app/option_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

Option number(OptionRange range) {
  return {.name = "lr", .kind = OptionKind::number, .range = range};
}

TEST(ParseWhole, TakesAllOfTheTextOrNothing) {
  EXPECT_EQ(parse_whole<std::uint64_t>("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_whole<double>("2.5e-3"), 0.0025);
  for (const auto* text : {"", " 1", "1 ", "+1", "1x", "1,5", "--1"}) {
    EXPECT_EQ(parse_whole<std::uint64_t>(text), std::nullopt) << text;
    EXPECT_EQ(parse_whole<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_whole<std::uint64_t>("18446744073709551616"), std::nullopt);
}

TEST(CheckValue, WantsAPositiveFiniteNumber) {
  EXPECT_NO_THROW(check_value(number(OptionRange::positive), "0.1", "--lr"));
  EXPECT_NO_THROW(check_value(number(OptionRange::not_negative), "0", "--lr"));
  for (const std::string text : {"nan", "inf", "-inf", "-0.1", "0", "1e400", "0.1f", "0,1"}) {
    EXPECT_THAT([&] { check_value(number(OptionRange::positive), text, "--lr"); },
                ThrowsMessage<UsageError>(StrEq("--lr " + text + ": expected a positive number")));
  }
  EXPECT_THAT([] { check_value(number(OptionRange::not_negative), "-1", "lr"); },
              ThrowsMessage<UsageError>(StrEq("lr -1: expected a number that is 0 or more")));
}

TEST(CheckValue, WantsChoicesAndFlagsLetterByLetter) {
  const Option rule{.name = "rule", .kind = OptionKind::choice, .choices = {"linear", "root"}};
  const Option flag{.name = "nesterov", .kind = OptionKind::flag};
  EXPECT_NO_THROW(check_value(rule, "root", "--rule"));
  EXPECT_THROW(check_value(rule, "Root", "--rule"), UsageError);
  EXPECT_NO_THROW(check_value(flag, "false", "--nesterov"));
  EXPECT_THAT([&] { check_value(flag, "yes", "--nesterov"); },
              ThrowsMessage<UsageError>(StrEq("--nesterov yes: expected true or false")));
  EXPECT_THROW(check_value({.name = "data"}, "", "--data"), UsageError);
}

}  // namespace
}  // namespace rubato::app
