// One update against a plain program of the same thing.
#include "runtime/train_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/huge_pages.hpp"
#include "tests/runtime/train_step_fixture.hpp"

namespace rubato::runtime {
namespace {

TEST_F(TrainStepTest, FollowsAPlainProgramOverUnevenBatches) {
  build(std::make_unique<SumModel>(), data::BatchTrace::from_rows({10, 1, 33, 4, 7}));
  const data::EpochOrder order(data::OrderKind::torch, 100, 1, 0);
  double w = 1;
  std::uint64_t position = 0;
  std::uint64_t used = 0;
  std::optional<data::PlannedUpdate> update = plan->next({});
  while (update) {
    std::vector<std::uint64_t> samples(update->batch_size);
    order.read(position, samples);
    position += update->batch_size;
    double mean = 0;
    for (const std::uint64_t sample : samples) mean += static_cast<double>(sample);
    mean /= static_cast<double>(samples.size());
    const double loss = w * mean;
    const double scale = static_cast<double>(update->batch_size) / 10;
    w -= rate * scale * mean;

    const std::optional<data::PlannedUpdate> upcoming = plan->next(update->end);
    const StepReport report = step->run(*update, upcoming ? &*upcoming : nullptr);
    EXPECT_NEAR(replica->shared().parameters[0], w, 1e-5);
    EXPECT_NEAR(report.loss, loss, 1e-4);
    EXPECT_DOUBLE_EQ(report.learning_rate, rate * scale);
    EXPECT_EQ(report.substeps, (update->batch_size + minibatch - 1) / minibatch);
    EXPECT_EQ(report.samples, position);
    double whole = 0;  // a short minibatch is none
    for (const RankTime& time : report.rank_times) whole += time.whole_minibatches;
    EXPECT_EQ(whole, static_cast<double>(update->batch_size / minibatch));
    used = (used + audit_of(0, update->begin.update, samples)) & audit_mask;
    EXPECT_EQ(report.audit, used);
    topology.node().barrier();
    update = upcoming;
  }
  EXPECT_EQ(position, 55U);
  EXPECT_EQ(step->audit(), (SampleAudit{1, 0, 0, used}));  // the epoch is over with the trace
}

// Notes where it finds the weights, and where each gradient that it computes with them goes.
class NotingModel final : public SumModel {
 public:
  using Places = std::map<const float*, std::set<const float*>>;
  explicit NotingModel(Places& places) : places_(places) {}
  void use_parameters(std::span<const float> parameters) override {
    weights_ = parameters.data();
    SumModel::use_parameters(parameters);
  }
  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch, std::span<float> out) override {
    places_[weights_].insert(out.data());
    return SumModel::gradient(minibatch, out);
  }

 private:
  Places& places_;
  const float* weights_ = nullptr;
};

TEST_F(TrainStepTest, WithWeightsOfItsOwnARankComputesGradientsApart) {
  NotingModel::Places places;
  build(std::make_unique<NotingModel>(places),
        data::BatchTrace::from_rows(std::vector<std::uint64_t>(40, 8 * minibatch)));
  for (std::optional<data::PlannedUpdate> update = plan->next({}); update;
       update = plan->next(update->end)) {
    step->run(*update, nullptr);
    topology.node().barrier();
  }
  ASSERT_EQ(places.size(), topology.all().size() > 1 ? 2U : 1U) << "the node's weights, a copy";
  const std::set<const float*> seen_by_all = places[replica->shared().parameters.data()];
  EXPECT_FALSE(seen_by_all.empty());
  for (const auto& [weights, gradients] : places) {
    if (weights == replica->shared().parameters.data()) continue;
    EXPECT_EQ(gradients.size(), 1U);
    EXPECT_FALSE(seen_by_all.contains(*gradients.begin()));
  }
}

TEST_F(TrainStepTest, MinibatchesThatWereTriedLeaveNothingBehind) {
  const auto weight_and_audit = [this](bool tries) {
    build(std::make_unique<SumModel>(), data::BatchTrace::from_rows({10, 1, 33}));
    if (tries) {
      EXPECT_GT(step->seconds_of(3), 0);
      EXPECT_GT(step->seconds_of(minibatch), 0);
    }
    StepReport report;
    for (auto update = plan->next({}); update;) {
      const auto upcoming = plan->next(update->end);
      report = step->run(*update, upcoming ? &*upcoming : nullptr);
      update = upcoming;
    }
    return std::pair(replica->shared().parameters[0], report.audit);
  };
  EXPECT_EQ(weight_and_audit(true), weight_and_audit(false));
}

TEST_F(TrainStepTest, ANonFiniteGradientLeavesTheWeightsAndNamesTheUpdate) {
  build(std::make_unique<SumModel>(0.0F), data::BatchTrace::from_rows({20}));
  const auto update = plan->next({});
  try {
    step->run(*update, nullptr);
    ADD_FAILURE();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("update 1: the gradient of w is not finite"));
  }
  EXPECT_EQ(replica->shared().parameters[0], 1.0F);
  EXPECT_EQ(optimizer->progress(), 0.0);
  topology.node().barrier();
}

TEST_F(TrainStepTest, ANonFiniteUpdateIsLeftOutOnRequestAndTheNextOneIsAsIfItHadNotBeen) {
  build(std::make_unique<SumModel>(99.0F), data::BatchTrace::from_rows({96, 4, 96}), true);
  const data::EpochOrder order(data::OrderKind::torch, 100, 1, 0);
  std::vector<std::uint64_t> samples(100);
  order.read(0, samples);
  const auto last_begin = samples.begin() + 96;
  ASSERT_NE(std::find(samples.begin(), last_begin, 99U), last_begin) << "it comes early here";

  const auto first = plan->next({});
  const auto second = plan->next(first->end);
  const StepReport skipped = step->run(*first, &*second, 5);
  EXPECT_THAT(skipped.skipped, testing::HasSubstr("the gradient of w is not finite"));
  EXPECT_EQ(skipped.update, 1U);
  EXPECT_EQ(skipped.request, 5U);
  EXPECT_EQ(replica->shared().parameters[0], 1.0F);
  EXPECT_EQ(optimizer->progress(), 0.0);
  topology.node().barrier();

  const StepReport report = step->run(*second, nullptr);
  double mean = 0;
  for (std::size_t i = 96; i < 100; ++i) mean += static_cast<double>(samples[i]) / 4;
  EXPECT_EQ(report.skipped, "");
  EXPECT_NEAR(replica->shared().parameters[0], 1 - rate * 0.4 * mean, 1e-6);
  ASSERT_EQ(report.finished_epochs.size(), 1U);
  EXPECT_EQ(report.finished_epochs[0].samples, 100U);
  topology.node().barrier();
}

// Ranks that sleep for each minibatch, the first one `slowness` times as long as the others' 2 ms.
class UnevenRanksTest : public TrainStepTest {
 protected:
  static constexpr std::size_t updates = 25;
  static constexpr std::size_t minibatches = 24;

  double seconds_of(std::size_t rank, double slowness) const {
    return rank == 0 ? 0.002 * slowness : 0.002;
  }

  struct Course {
    float weight = 0;
    double seconds = 0;               // median of the last ten updates
    std::vector<double> rank_counts;  // of the last one
    double imbalance = 0;
  };
  Course train(data::Assignment assignment, double slowness) {
    const std::chrono::duration<double> mine(seconds_of(world.rank(), slowness));
    build(std::make_unique<SumModel>(std::numeric_limits<float>::infinity(),
                                     std::chrono::duration_cast<std::chrono::microseconds>(mine)),
          data::BatchTrace::constant(minibatch * minibatches), false, assignment);
    Course course;
    std::vector<double> seconds;
    data::Cursor cursor;
    for (std::size_t i = 0; i < updates; ++i) {
      const auto update = plan->next(cursor);
      const auto upcoming = plan->next(update->end);
      const StepReport report = step->run(*update, i + 1 < updates ? &*upcoming : nullptr);
      topology.node().barrier();
      cursor = update->end;
      seconds.push_back(report.seconds);
      course.rank_counts.clear();
      for (const RankTime& time : report.rank_times) {
        course.rank_counts.push_back(time.whole_minibatches);
      }
      course.imbalance = report.imbalance;
    }
    std::sort(seconds.end() - 10, seconds.end());
    course.seconds = *(seconds.end() - 5);
    course.weight = replica->shared().parameters[0];
    return course;
  }

  bool balance_pays(double slowness);
};

// Trains both ways. Whether the balanced one ended as early as whole minibatches allow, and earlier
// than the blocked one, on all ranks.
bool UnevenRanksTest::balance_pays(double slowness) {
  const Course blocked = train(data::Assignment::blocked, slowness);
  const Course balanced = train(data::Assignment::balanced, slowness);
  EXPECT_EQ(balanced.weight, blocked.weight);  // nothing but the time has changed
  double speed = 0;                            // minibatches a second of all ranks together
  double finish = 0;  // of the counts as assigned, for ranks as fast as they should be
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    speed += 1 / seconds_of(rank, slowness);
    finish = std::max(finish, balanced.rank_counts[rank] * seconds_of(rank, slowness));
  }
  const double fair = static_cast<double>(minibatches) / speed;
  const double most = std::max(seconds_of(0, slowness), fair + 0.002);  // minibatches are whole
  if (world.rank() == 0) {
    std::printf("slowed %.0f times: an update takes %.1f ms, blocked %.1f ms, fair %.1f ms\n",
                slowness, 1e3 * balanced.seconds, 1e3 * blocked.seconds, 1e3 * fair);
  }
  const bool is_faster =
      balanced.seconds < blocked.seconds && balanced.imbalance < blocked.imbalance;
  std::int64_t fails = finish <= 1.3 * most && (world.size() == 1 || is_faster) ? 0 : 1;
  world.maximum(std::span(&fails, 1));
  return fails == 0;
}

TEST_F(UnevenRanksTest, ABalancedAssignmentEndsAsEarlyAsMinibatchesAllow) {
  const std::vector<double> cases = world.size() == 1 ? std::vector{1.0} : std::vector{2.0, 4.0};
  for (const double slowness : cases) {
    // Speeds are measured, so other programs on the machine may spoil an attempt.
    bool pays = false;
    for (int attempt = 0; attempt < 5 && !pays; ++attempt) pays = balance_pays(slowness);
    EXPECT_TRUE(pays) << "slowed " << slowness << " times";
  }
}

TEST_F(TrainStepTest, PutsMemoryThatIsUsedIntoHugePagesAfterASecond) {
  build(std::make_unique<SumModel>(std::numeric_limits<float>::infinity(),
                                   std::chrono::milliseconds(300)),
        data::BatchTrace::from_rows({4, 4, 4, 4}));
  const std::vector<char> used(std::size_t{40} << 20U, 'x');
  const std::uintptr_t middle = address_of(&used[used.size() / 2]);
  ASSERT_FALSE(is_to_be_huge(middle));
  for (auto update = plan->next({}); update; update = plan->next(update->end)) {
    step->run(*update, nullptr);
  }
  EXPECT_EQ(is_to_be_huge(middle), huge_pages_can_be_asked_for());
}

}  // namespace
}  // namespace rubato::runtime
