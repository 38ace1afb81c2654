#include "app/trace_options.hpp"

#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

TEST(TraceOptions, CheckTakesThePlansOptionsButNoSecondTrace) {
  const auto options = trace_check_table().parse({"t.csv", "--samples", "9", "--epochs", "2"});
  EXPECT_EQ(options.positionals()[0], "t.csv");
  EXPECT_EQ(options.integer("epochs"), 2U);
  EXPECT_EQ(options.integer("minibatch"), 32U);
  EXPECT_THROW(trace_check_table().parse({"t.csv", "--trace", "u.csv"}), UsageError);
  EXPECT_THROW(trace_check_table().parse({"t.csv", "--batch-size", "4"}), UsageError);
}

TEST(TraceOptions, ShowTakesOneFile) {
  EXPECT_EQ(trace_show_table().parse({"t.csv"}).text("format"), "text");
  EXPECT_THROW(trace_show_table().parse({}), UsageError);
}

TEST(TraceOptions, MakeTakesASeedOfZero) {
  EXPECT_EQ(trace_make_table().parse({"random-walk", "--seed", "0"}).integer("seed"), 0U);
  EXPECT_THROW(trace_make_table().parse({"constant", "--rows", "0"}), UsageError);
}

TEST(TraceOptions, FromCapacityTakesOneUpdateARow) {
  const auto options = trace_from_capacity_table().parse({"h.csv", "--samples-per-device", "4"});
  EXPECT_EQ(options.integer("updates-per-row"), 1U);
  EXPECT_EQ(options.integer("least-devices"), 1U);
  EXPECT_FALSE(options.has_value("out"));
  EXPECT_THROW(trace_from_capacity_table().parse({"h.csv", "--least-devices", "0"}), UsageError);
}

}  // namespace
}  // namespace rubato::app
