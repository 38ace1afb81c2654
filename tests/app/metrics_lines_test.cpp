#include "app/metrics_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/metrics_file.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

TEST(MetricsLines, AreWhatARunWrites) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "metrics.jsonl";
  {
    runtime::MetricsFile metrics(file);
    metrics.begin({});
    runtime::StepReport update;
    update.update = 7;
    update.loss = std::nan("");
    update.seconds = 0.5;
    metrics.update(update);
    metrics.evaluation({.update = 7});
    metrics.end({});
  }
  MetricsLines lines(file);
  EXPECT_TRUE(lines.is_open());
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.is_of("context"));
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.is_of("update"));
  EXPECT_FALSE(lines.is_of("up")) << "the whole word";
  EXPECT_EQ(lines.number(), 2U);
  const auto update = lines.object();
  EXPECT_EQ(count_in(update, "update"), 7U);
  EXPECT_EQ(seconds_in(update), 0.5);
  EXPECT_TRUE(std::isnan(number_in(update, "loss"))) << "null";
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.is_of("eval"));
  ASSERT_TRUE(lines.next());
  EXPECT_FALSE(lines.next());
}

TEST(MetricsLines, MayBeAnything) {
  const TemporaryDirectory directory;
  MetricsLines lines(directory.write("m",
                                     "{\"type\":\"update\",\n[1]\n"
                                     "{\"update\":-1,\"loss\":\"x\",\"seconds\":-2}\n{}"));
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.object().is_null());
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.object().is_null());
  EXPECT_FALSE(lines.is_of("update"));
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(count_in(lines.object(), "update"), 0U);
  EXPECT_TRUE(std::isnan(number_in(lines.object(), "loss")));
  EXPECT_TRUE(std::isnan(number_in(lines.object(), "lr")));
  EXPECT_EQ(seconds_in(lines.object()), 0);
  EXPECT_FALSE(lines.next()) << "a line without its end is being written";
  EXPECT_FALSE(MetricsLines(directory.path() / "none").is_open());
}

}  // namespace
}  // namespace rubato::app
