// A training step of a model whose gradient is known in closed form.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "optim/scaling_rules.hpp"
#include "runtime/train_step.hpp"
#include "tests/runtime/counted_samples.hpp"

namespace rubato::runtime {

// Loss of a sample x: w x, so the gradient's sum is the sum of the samples whatever w is. From
// `bad_from` on it is NaN. A minibatch takes so long.
class SumModel : public nn::Model {
 public:
  explicit SumModel(float bad_from = std::numeric_limits<float>::infinity(),
                    std::chrono::microseconds duration = {})
      : bad_from_(bad_from), duration_(duration) {
    layout_.add_parameter("w", {1});
  }
  const nn::Layout& layout() const override { return layout_; }
  void initialize(std::span<float> parameters, std::uint64_t) const override { parameters[0] = 1; }
  void use_parameters(std::span<const float> parameters) override { w_ = parameters[0]; }
  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch, std::span<float> out) override {
    std::this_thread::sleep_for(duration_);
    std::ranges::fill(out, 0.0F);
    nn::MinibatchLoss loss;
    for (const float x : minibatch.inputs) {
      out[0] += x >= bad_from_ ? std::numeric_limits<float>::quiet_NaN() : x;
      loss.loss_sum += w_ * x;
    }
    return loss;
  }
  nn::MinibatchLoss evaluate(std::span<const float>, std::span<const std::int32_t>,
                             std::span<nn::SampleLoss>) override {
    return {};
  }

 private:
  nn::Layout layout_;
  float bad_from_;
  std::chrono::microseconds duration_;
  float w_ = 0;
};

class TrainStepTest : public testing::Test {
 protected:
  static constexpr std::uint64_t minibatch = 4;
  static constexpr double rate = 0.001;

  void build(std::unique_ptr<nn::Model> model, data::BatchTrace trace, bool skips_nonfinite = false,
             data::Assignment assignment = data::Assignment::blocked, SecondsClock clock = {}) {
    plan = std::make_unique<data::TracePlan>(
        std::move(trace), data::PlanOptions{.samples = 100, .minibatch = minibatch});
    auto sgd = optim::make_optimizer<float>({.name = "sgd"});
    replica = std::make_unique<Replica>(topology, std::move(model), sgd->state_names(), 1);
    loader = std::make_unique<data::Prefetcher>(std::make_shared<CountedSamples>(100),
                                                data::OrderKind::torch, 1, minibatch);
    optim::ScheduleOptions schedule;
    schedule.base_rate = rate;
    optimizer = std::make_unique<optim::LinearRuleOptimizer>(
        std::move(sgd), optim::LearningRateSchedule(schedule),
        optim::ElasticOptions{.reference_batch = 10});
    sync = make_gradient_sync(topology, replica->layout());
    step = std::make_unique<TrainStep>(topology, *replica, *loader, *sync, *optimizer,
                                       TrainStep::Options{.assignment = assignment,
                                                          .epoch_samples = 100,
                                                          .skips_nonfinite = skips_nonfinite,
                                                          .clock = std::move(clock)});
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  std::unique_ptr<data::TracePlan> plan;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<data::Prefetcher> loader;
  std::unique_ptr<optim::ElasticOptimizer> optimizer;
  std::unique_ptr<optim::GradientSync> sync;
  std::unique_ptr<TrainStep> step;
};

}  // namespace rubato::runtime
