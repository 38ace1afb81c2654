// Training steps of a real model on hosts that send factors, against one rank alone. Each rank, or
// each two, are a host.
#include "runtime/dense_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/prefetcher.hpp"
#include "data/trace_plan.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/train_step.hpp"
#include "tests/runtime/forwarding_model.hpp"

namespace rubato::runtime {
namespace {

using collectives::Communicator;
using collectives::Topology;

// A dense network that counts what it makes of others' factors; where it is `unlike` the others',
// with another last bit.
class CountingModel final : public ForwardingModel {
 public:
  CountingModel(std::size_t& multiplied, bool is_unlike)
      : ForwardingModel(nn::make_model("mlp:144,96", {10, 10, 1}, 5, nn::Backend::eigen)),
        multiplied_(multiplied),
        is_unlike_(is_unlike) {}
  void multiply_factors(const nn::Factors& factors, std::span<float> gradient) override {
    ++multiplied_;
    ForwardingModel::multiply_factors(factors, gradient);
    if (is_unlike_) gradient.front() = std::nextafter(gradient.front(), 1e9F);
  }

 private:
  std::size_t& multiplied_;
  bool is_unlike_;
};

// Images with all different pixels.
class Waves final : public data::Dataset {
 public:
  std::size_t size() const override { return 500; }
  data::SampleShape shape() const override { return {.height = 10, .width = 10, .channels = 1}; }
  std::size_t classes() const override { return 5; }
  void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
            std::span<std::int32_t> labels) const override {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs[i] = std::sin(0.37F * static_cast<float>(indices[i / 100] * 100 + i % 100));
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int32_t>(indices[i] % 5);
    }
  }
};

struct Trained {
  std::vector<float> weights;
  std::size_t multiplied = 0;  // on this rank, trials too
  bool has_factors = false;
};

Trained train(const Topology& topology, std::vector<std::uint64_t> batches,
              bool is_unlike = false) {
  Trained trained;
  data::TracePlan plan(data::BatchTrace::from_rows(std::move(batches)),
                       data::PlanOptions{.samples = 500, .minibatch = 4});
  auto adam = optim::make_optimizer<float>({.name = "adam"});
  Replica replica(topology, std::make_unique<CountingModel>(trained.multiplied, is_unlike),
                  adam->state_names(), 1);
  data::Prefetcher loader(std::make_shared<Waves>(), data::OrderKind::torch, 1, 4);
  optim::ScheduleOptions schedule;
  schedule.base_rate = 0.01;
  optim::AdaScaleOptimizer optimizer(std::move(adam), optim::LearningRateSchedule(schedule),
                                     optim::ElasticOptions{.reference_batch = 8});
  const auto sync = make_gradient_sync(topology, replica.layout());
  TrainStep step(topology, replica, loader, *sync, optimizer, {.epoch_samples = 500});
  trained.has_factors = sync->has_factors();
  for (auto update = plan.next({}); update;) {
    const auto upcoming = plan.next(update->end);
    step.run(*update, upcoming ? &*upcoming : nullptr);
    topology.node().barrier();
    update = upcoming;
  }
  const std::span<const float> weights = replica.shared().parameters;
  trained.weights.assign(weights.begin(), weights.end());
  topology.all().barrier();
  return trained;
}

class DenseFactorsTest : public testing::Test {
 protected:
  const Communicator world = Communicator::world();
  const Communicator self = world.split(static_cast<int>(world.rank()), 0);
  const Topology alone{self};
  // Of one to three minibatches, the last of them short; some with too many for factors.
  const std::vector<std::uint64_t> batches = {8, 8, 3, 9, 12, 6, 80, 8, 8, 4, 11, 2, 8, 8, 90, 7};
};

TEST_F(DenseFactorsTest, UpdatesHaveTheSameBitsOnAnyHosts) {
  const Trained expected = train(alone, batches);
  EXPECT_FALSE(expected.has_factors);
  for (const std::size_t per_host : {1UL, 2UL}) {
    const Topology hosts(world, per_host);
    const Trained trained = train(hosts, batches);
    EXPECT_EQ(trained.weights, expected.weights) << per_host;
    EXPECT_EQ(trained.has_factors, hosts.node_count() > 1);
    std::int64_t multiplied = static_cast<std::int64_t>(trained.multiplied);
    world.maximum(std::span(&multiplied, 1));
    // Each of two weights is tried out with one to four samples.
    EXPECT_EQ(multiplied > 2 * 4, hosts.node_count() > 1) << per_host;
  }
}

TEST_F(DenseFactorsTest, HostsThatMultiplyUnlikeOthersSumAsEver) {
  const Topology hosts(world, 1);
  const Trained trained =
      train(hosts, batches, /*is_unlike=*/world.size() > 1 && world.rank() + 1 == world.size());
  EXPECT_EQ(trained.weights, train(alone, batches).weights);
  EXPECT_LE(trained.multiplied, 2U * 4U) << "more than trials";
}

}  // namespace
}  // namespace rubato::runtime
