// What an update allocates on the thread that trains: little, and no more for more minibatches.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/crop_flip.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/train_step.hpp"
#include "tests/allocations.hpp"
#include "tests/runtime/counted_samples.hpp"

namespace rubato::runtime {
namespace {

// One weight, whose gradient is the number of samples.
class CountingModel final : public nn::Model {
 public:
  CountingModel() { layout_.add_parameter("w", {1}); }
  const nn::Layout& layout() const override { return layout_; }
  void initialize(std::span<float>, std::uint64_t) const override {}
  void use_parameters(std::span<const float>) override {}
  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch, std::span<float> out) override {
    std::ranges::fill(out, 0.0F);
    out[0] = static_cast<float>(minibatch.inputs.size());
    return {};
  }
  nn::MinibatchLoss evaluate(std::span<const float>, std::span<const std::int32_t>,
                             std::span<nn::SampleLoss>) override {
    return {};
  }

 private:
  nn::Layout layout_;
};

// Of one update of so many minibatches, in the mean.
double allocations_an_update(std::size_t minibatches) {
  constexpr int updates_before = 3;
  constexpr int updates = 30;
  const collectives::Topology topology(collectives::Communicator::world());
  const data::TracePlan plan(
      data::BatchTrace::constant(minibatches),
      {.samples = 1000, .minibatch = 1, .epoch_end = data::EpochEnd::carry, .updates = 100});
  auto sgd = optim::make_optimizer<float>({.name = "sgd"});
  Replica replica(topology, std::make_unique<CountingModel>(), sgd->state_names(), 1);
  data::Prefetcher loader(std::make_shared<CountedSamples>(1000), data::OrderKind::torch, 1, 1);
  optim::LinearRuleOptimizer optimizer(std::move(sgd),
                                       optim::LearningRateSchedule(optim::ScheduleOptions{}),
                                       {.reference_batch = 10});
  const auto sync = make_gradient_sync(topology, replica.layout());
  TrainStep step(topology, replica, loader, *sync, optimizer, {.epoch_samples = 1000});
  std::optional<data::PlannedUpdate> update = plan.next({});
  std::size_t allocations = 0;
  for (int i = 0; i < updates_before + updates; ++i) {
    const std::optional<data::PlannedUpdate> upcoming = plan.next(update->end);
    const std::size_t before = allocations_of_this_thread();
    step.run(*update, &*upcoming);
    if (i >= updates_before) allocations += allocations_of_this_thread() - before;
    topology.node().barrier();
    update = upcoming;
  }
  return static_cast<double>(allocations) / updates;
}

// The list of the rank's minibatches and that of the ranks' times; and the loader's queue, which
// takes memory for several minibatches at a time.
TEST(StepAllocations, AreAFewListsAnUpdate) {
  EXPECT_LE(allocations_an_update(1), 2.1);
  EXPECT_LE(allocations_an_update(16), 3.1);
}

// However fast it is emptied: here always before the next request.
TEST(StepAllocations, OfTheLoadersQueueAreFewerThanItsMinibatches) {
  constexpr std::size_t requests = 64;
  data::Prefetcher loader(std::make_shared<CountedSamples>(1000), data::OrderKind::torch, 1, 1);
  const std::size_t before = allocations_of_this_thread();
  for (std::size_t i = 0; i < requests; ++i) {
    const data::Minibatch minibatch{.index = i, .begin = i, .size = 1};
    loader.request({&minibatch, 1});
    loader.next();
  }
  EXPECT_LE(allocations_of_this_thread() - before, requests / 4);
}

TEST(StepAllocations, OfAugmentationThereAreNone) {
  constexpr data::SampleShape shape{8, 8, 3};
  data::CropFlip augmentation(shape, {1, {0, 0, 0}, {1, 1, 1}}, 42);
  const std::vector<std::uint64_t> samples{3, 1, 4, 15};
  std::vector<float> images(samples.size() * shape.size(), 1.0F);
  const std::size_t before = allocations_of_this_thread();
  augmentation.apply(2, samples, images);
  EXPECT_EQ(allocations_of_this_thread(), before);
}

}  // namespace
}  // namespace rubato::runtime
