// The text of the file. Shapes are tested in trace_shape_test.cpp, misuse in command_trace_test.py.
#include "app/trace_make.hpp"

#include <gtest/gtest.h>

#include "app/trace_options.hpp"
#include "data/batch_trace.hpp"

namespace rubato::app {
namespace {

TEST(TraceMake, WritesATraceThatReadsBack) {
  const auto options = trace_make_table().parse({"steps", "--rows", "3", "--batch-sizes", "64,1"});
  const std::string text = make_trace(options);
  EXPECT_EQ(text, "# made by: rubato trace make steps\nstep,batchsize\n0,64\n1,64\n2,1\n");
  const auto trace = data::BatchTrace::from_csv_text(text, "made");
  EXPECT_EQ(trace.rows(), 3U);
  EXPECT_EQ(trace.batch_size(2), 1U);
  EXPECT_TRUE(trace.warnings().empty());
}

TEST(TraceMake, BoundsAWalkByOneMinibatchAndSixteenTimesTheFirstBatch) {
  const auto options = trace_make_table().parse(
      {"random-walk", "--rows", "2000", "--batch-size", "32", "--jump", "9"});
  const auto trace = data::BatchTrace::from_csv_text(make_trace(options), "made");
  std::uint64_t smallest = 1U << 30U;
  for (std::uint64_t row = 0; row < trace.rows(); ++row) {
    smallest = std::min(smallest, trace.batch_size(row));
  }
  EXPECT_EQ(smallest, 32U);
  EXPECT_EQ(trace.largest(), 512U);
}

}  // namespace
}  // namespace rubato::app
