// The form of the document. That its content is right is the business of command_plan_test.py.
#include <gtest/gtest.h>

#include <sstream>

#include "app/plan_report.hpp"

namespace rubato::app {
namespace {

const std::vector<data::Minibatch> minibatches{{.index = 3, .begin = 9, .size = 4},
                                               {.index = 4, .begin = 13, .size = 1}};
const PlanFacts facts{
    .samples = 6, .minibatch = 4, .minibatches_per_epoch = 1, .epoch_samples = 4, .ranks = 2};

std::string document(const PlanJson::MakeOrder& order, bool is_carried) {
  std::ostringstream out;
  PlanJson json(out, facts, order);
  json.begin_epoch(1, 7);
  json.visit({.step = 0,
              .batch_size = 5,
              .minibatches = minibatches,
              .ranks = {{3, 4}, {}},
              .is_carried_from = is_carried,
              .carries_on = is_carried});
  json.end_epoch({.epoch = 1,
                  .trace_begin = 7,
                  .steps = 1,
                  .minibatches_used = 2,
                  .minibatches_left_over = 0,
                  .samples_left_over = 1});
  json.finish();
  return out.str();
}

TEST(PlanJson, WritesOneDocument) {
  EXPECT_EQ(document({}, false),
            "{\"samples\":6,\"minibatch\":4,\"ranks\":2,\"minibatches_per_epoch\":1,\"epochs\":[\n"
            "{\"epoch\":1,\"trace_begin\":7,\"steps\":[\n"
            "  {\"step\":0,\"batch_size\":5,\"begin\":9,\"sizes\":[4,1],\"ranks\":[[3,4],[]]}],\n"
            " \"trace_end\":8,\"minibatches_used\":2,\"minibatches_left_over\":0,"
            "\"samples_left_over\":1}]}\n");
}

TEST(PlanJson, TellsTheMinibatchOfAStepWhereRowsHaveTheirOwn) {
  PlanFacts own = facts;
  own.rows_have_minibatches = true;
  std::ostringstream out;
  PlanJson json(out, own, {});
  json.begin_epoch(0, 0);
  json.visit({.batch_size = 5, .minibatch = 3, .minibatches = minibatches, .ranks = {{3, 4}, {}}});
  EXPECT_NE(out.str().find("\"batch_size\":5,\"minibatch\":3,\"begin\":9"), std::string::npos);
}

TEST(PlanJson, MarksTheTwoSidesOfACut) {
  EXPECT_NE(document({}, true).find("[[3,4],[]],\"carried_from\":true,\"carries_on\":true}"),
            std::string::npos);
}

TEST(PlanJson, AddsTheOrderOfAnEpochCutToItsSamples) {
  const auto order = [](std::uint64_t epoch) {
    return data::EpochOrder(data::OrderKind::torch, 6, 42, epoch);
  };
  std::vector<std::uint64_t> expected(4);
  order(1).read(0, expected);
  std::string list;
  for (const auto sample : expected)
    list.append(list.empty() ? "" : ",").append(std::to_string(sample));
  EXPECT_NE(document(order, false).find(",\n \"order\":[" + list + "]}"), std::string::npos);
}

}  // namespace
}  // namespace rubato::app
