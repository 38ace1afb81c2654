// The model against the reference vectors, against its formula written down once more, and at its
// edges.
#include "optim/performance_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "performance_examples.hpp"
#include "tests/optim/expect_relative.hpp"

namespace rubato::optim {
namespace {

using nlohmann::json;

TEST(PerformanceModel, FollowsTheReferenceVectors) {
  const json golden = goodput_vectors();
  const PerformanceParameters parameters = reference_parameters(golden);
  for (const json& point : golden["points"]) {
    SCOPED_TRACE(point.dump());
    const double ranks = point["replicas"], minibatch = point["atomic"];
    const double substeps = point["accum"].get<double>() + 1;
    const UpdateWork work{point["nodes"], point["replicas"], minibatch, substeps};
    const UpdateTime time = predict(parameters, work);
    expect_relative(time.substep_seconds, point["t_accum"]);
    expect_relative(time.exchange_seconds, point["t_net"]);
    expect_relative(time.last_seconds, point["t_optim"]);
    expect_relative(ranks * minibatch * substeps / time.update_seconds, point["throughput"]);
  }
  EXPECT_EQ(golden["points"].size(), 6u);
}

// The formula for three ranks or more, as one expression.
double three_ranks_or_more(const PerformanceParameters& p, const UpdateWork& work) {
  const auto beyond = static_cast<double>(work.ranks - 2);
  const double exchange = work.hosts == 1
                              ? p.within_host_base + p.within_host_per_rank * beyond
                              : p.between_hosts_base + p.between_hosts_per_rank * beyond;
  const double substep = p.substep_base + p.substep_per_sample * work.minibatch;
  return (work.substeps - 1) * substep +
         std::pow(std::pow(substep, p.overlap) + std::pow(exchange, p.overlap), 1 / p.overlap);
}

TEST(PerformanceModel, IsTheFormula) {
  PerformanceExamples examples(1);
  for (int i = 0; i < 10000; ++i) {
    const PerformanceParameters parameters = examples.parameters();
    const UpdateWork work{examples.whole(1, 3), examples.whole(3, 64),
                          static_cast<double>(examples.whole(1, 512)),
                          static_cast<double>(examples.whole(1, 9))};
    const double expected = three_ranks_or_more(parameters, work);
    ASSERT_NEAR(predict(parameters, work).update_seconds, expected, 1e-12 * expected) << i;
  }
}

TEST(PerformanceModel, ExchangeFollowsOrHides) {
  PerformanceParameters parameters{.substep_base = 0.3, .within_host_base = 0.4};
  const UpdateWork work{1, 2, 1e-9, 1};
  EXPECT_NEAR(predict(parameters, work).update_seconds, 0.7, 1e-7);
  parameters.overlap = 10;
  EXPECT_NEAR(predict(parameters, work).update_seconds, 0.4, 0.003);
}

// At overlap 10 the powers themselves would be 1e-300 ... and 1e200.
TEST(PerformanceModel, LargeAndSmallTimesDoNotOverflow) {
  PerformanceParameters parameters{.substep_base = 1e-30, .overlap = 10};
  parameters.substep_per_sample = 1e-30;
  parameters.within_host_base = 1e40;
  const UpdateTime time = predict(parameters, {1, 2, 1, 1});
  EXPECT_EQ(time.update_seconds, time.exchange_seconds);
}

TEST(PerformanceModel, SlowRanksShareIsLongerAndAFastOnesShorter) {
  const PerformanceParameters parameters{.substep_base = 0.1};
  const double one = predict(parameters, {1, 2, 1, 1}).update_seconds;
  EXPECT_NEAR(predict(parameters, {1, 2, 1, 2.5}).update_seconds, 2.5 * one, 1e-7);
  EXPECT_NEAR(predict(parameters, {1, 2, 1, 0.8}).update_seconds, 0.8 * one, 1e-7);
}

TEST(PerformanceModel, ShareOfLessThanOneSubstepIsAllBesideTheExchange) {
  const PerformanceParameters parameters{
      .substep_base = 0.1, .within_host_base = 0.1, .overlap = 2};
  EXPECT_NEAR(predict(parameters, {1, 2, 1, 0.8}).update_seconds, std::hypot(0.08, 0.1), 1e-7);
}

// Unlike a reference that takes a missing number of hosts for the number of ranks.
TEST(PerformanceModel, RanksOfOneHostDoNotPayForTheNetwork) {
  const PerformanceParameters parameters{.between_hosts_base = 9, .within_host_base = 0.5};
  EXPECT_NEAR(predict(parameters, {1, 4, 1, 1}).exchange_seconds, 0.5, 1e-6);
  EXPECT_NEAR(predict(parameters, {4, 4, 1, 1}).exchange_seconds, 9, 1e-6);
}

}  // namespace
}  // namespace rubato::optim
