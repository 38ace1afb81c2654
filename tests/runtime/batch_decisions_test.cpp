// The file of an adaptive run is a trace.
#include "runtime/batch_decisions.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "data/errors.hpp"

namespace rubato::runtime {
namespace {

const BatchDecision first{.configuration = {.minibatch = 32, .substeps = 1, .batch = 64},
                          .ranks = 2,
                          .reason = "initial"};
const BatchDecision second{.update = 40,
                           .epoch = 1,
                           .configuration = {.minibatch = 48, .substeps = 2, .batch = 192},
                           .hosts = 2,
                           .ranks = 2,
                           .predicted_goodput = 1234.5678,
                           .current_goodput = 1000,
                           .noise_scale = std::numeric_limits<double>::infinity(),
                           .reason = "23 % better"};

TEST(BatchDecisions, AreATraceWithFurtherColumns) {
  BatchDecisions decisions;
  decisions.add(line_of(first));
  decisions.add(line_of(second));
  EXPECT_EQ(decisions.text(),
            "update,batchsize,minibatch,epoch,substeps,hosts,ranks,predicted_goodput,"
            "current_goodput,noise_scale,reason\n"
            "0,64,32,0,1,1,2,,,,initial\n"
            "40,192,48,1,2,2,2,1234.57,1000,,23 % better\n");
  const data::BatchTrace trace = decisions.trace();
  ASSERT_EQ(trace.rows(), 2U);
  EXPECT_EQ(trace.row(0), (data::TraceRow{0, 64, 32, 0}));
  EXPECT_EQ(trace.row(1), (data::TraceRow{40, 192, 48, 1}));
}

TEST(BatchDecisions, AreRestoredFromTheirText) {
  BatchDecisions decisions;
  decisions.add(line_of(first));
  BatchDecisions restored;
  restored.restore(decisions.text(), "here");
  decisions.add(line_of(second));
  restored.add(line_of(second));
  EXPECT_EQ(restored.text(), decisions.text());
}

TEST(BatchDecisions, AreForgottenFromAnUpdateOn) {
  BatchDecisions decisions;
  decisions.add(line_of(first));
  const std::string before = decisions.text();
  decisions.add(line_of(second));
  const std::string both = decisions.text();
  decisions.add("41,64,32,1,1,1,2,,,,third");
  decisions.forget_from(second.update + 1);
  EXPECT_EQ(decisions.text(), both);
  decisions.forget_from(second.update + 1);
  EXPECT_EQ(decisions.text(), both);
  decisions.add("41,64,32,1,1,1,2,,,,third");
  decisions.forget_from(second.update);
  EXPECT_EQ(decisions.text(), before);
}

// Lines of another program, perhaps: what is added must not end up in the last one.
TEST(BatchDecisions, AreRefusedWithoutTheirLastLinesEnd) {
  BatchDecisions decisions;
  decisions.add(line_of(first));
  std::string text = decisions.text();
  text.pop_back();
  EXPECT_THROW(BatchDecisions().restore(text, "here"), data::ContentError);
}

TEST(BatchDecisions, RefuseWhatIsNoTraceOfDecisions) {
  BatchDecisions decisions;
  const std::string header = std::string(BatchDecisions::header()) + "\n";
  for (const std::string& text :
       {std::string(), std::string("update,batchsize,minibatch,epoch\n0,8,4,0\n"), header,
        header + "5,8,4,0,1,1,1,,,,x\n", header + "0,8,4,0\n"}) {
    EXPECT_THROW(decisions.restore(text, "here"), data::ContentError) << text;
  }
  EXPECT_TRUE(decisions.text().empty());
}

}  // namespace
}  // namespace rubato::runtime
