// The columns besides batchsize: what a sparse trace says, and the one sentence for each thing that
// makes no sense.
#include "data/trace_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/errors.hpp"
#include "tests/data/refusal_of_trace.hpp"

namespace rubato::data {
namespace {

using testing::HasSubstr;

BatchTrace read(const std::string& text) { return BatchTrace::from_csv_text(text, "t.csv"); }

TEST(TraceReader, ReadsASparseTrace) {
  const BatchTrace trace = read(
      "why,update,batchsize,minibatch,epoch\nstart,0,64,32,0\n# a pause\nfaster,7,96,48,0\n"
      "x,30,64,16,2\n");
  EXPECT_TRUE(trace.is_sparse());
  EXPECT_TRUE(trace.is_endless());
  EXPECT_FALSE(trace.is_constant());
  ASSERT_EQ(trace.rows(), 3U);
  EXPECT_EQ(trace.row(0), (TraceRow{0, 64, 32, 0}));
  EXPECT_EQ(trace.row(1), (TraceRow{7, 96, 48, 0}));
  EXPECT_EQ(trace.row(2), (TraceRow{30, 64, 16, 2}));
  EXPECT_EQ(trace.where(1), "t.csv:4 (row 1)");
  EXPECT_EQ(trace.updates_told(), 31U);
}

TEST(TraceReader, ReadsMinibatchesOfATraceWithARowForEveryUpdate) {
  const BatchTrace trace = read("step,batchsize,minibatch,epoch\n0,64,32,x\n1,64,16,\n");
  EXPECT_FALSE(trace.is_sparse());
  EXPECT_FALSE(trace.is_endless());
  EXPECT_TRUE(trace.has_minibatches());
  EXPECT_EQ(trace.row(1), (TraceRow{1, 64, 16, std::nullopt}));
}

// Where the updates are numbered, nobody needs the steps.
TEST(TraceReader, DoesNotWarnOfTheStepsOfASparseTrace) {
  EXPECT_TRUE(read("step,update,batchsize\n5,0,8\n6,3,8\n").warnings().empty());
}

TEST(TraceReader, RefusesUpdatesThatDoNotAscendFromZero) {
  EXPECT_EQ(refusal_of_trace("update,batchsize\n3,8\n"),
            "t.csv:2:1: found \"3\" in column update, expected 0, for a run begins with the first "
            "row");
  EXPECT_EQ(refusal_of_trace("update,batchsize\n0,8\n4,8\n 4,8\n"),
            "t.csv:4:2: found \"4\" in column update, expected a whole number of at least 5");
  EXPECT_THAT(refusal_of_trace("update,batchsize\n0,8\n-1,8\n"),
              HasSubstr("found \"-1\" in column update"));
  EXPECT_THAT(refusal_of_trace("batchsize,update\n8,0\n8,99999999999\n"),
              HasSubstr("at most 2147483647"));
  EXPECT_THAT(refusal_of_trace("batchsize,update\n8,\n"),
              HasSubstr("t.csv:2:3: found nothing in column"));
}

TEST(TraceReader, RefusesEpochsThatDoNotAscendFromZero) {
  EXPECT_THAT(refusal_of_trace("update,batchsize,epoch\n0,8,1\n"),
              HasSubstr("t.csv:2:5: found \"1\" in column epoch, expected 0"));
  EXPECT_THAT(refusal_of_trace("update,batchsize,epoch\n0,8,0\n1,8,2\n2,8,1\n"),
              HasSubstr("t.csv:4:5: found \"1\" in column epoch, expected a whole number of at "
                        "least 2"));
}

TEST(TraceReader, RefusesMinibatchesThatAreNone) {
  for (const char* value : {"0", "", "x", "1.5", "-3"}) {
    EXPECT_THAT(refusal_of_trace(std::string("batchsize,minibatch\n8,") + value + "\n"),
                HasSubstr(" in column minibatch, expected a whole number of at least 1"));
  }
  EXPECT_THAT(refusal_of_trace("batchsize,minibatch\n8,2147483648\n"),
              HasSubstr("at most 2147483647"));
}

TEST(TraceReader, RefusesAColumnTwice) {
  for (const char* name : {"update", "minibatch", "epoch"}) {
    const std::string header = std::string("batchsize,") + name + "," + name + "\n";
    EXPECT_THAT(refusal_of_trace(header + "8,0,0\n"), HasSubstr("found a second column"));
  }
}

}  // namespace
}  // namespace rubato::data
