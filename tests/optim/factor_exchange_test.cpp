// Factors between nodes, against the gradients that they were made of.
#include "optim/factor_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "collectives/communicator.hpp"
#include "tests/optim/factored_gradients.hpp"

namespace rubato::optim {
namespace {

using collectives::Communicator;
using collectives::Topology;

class FactorExchangeTest : public testing::Test {
 protected:
  // Slot i on rank `first` + i, counted round.
  std::vector<MinibatchRun> runs_from(std::size_t first, std::size_t number) const {
    std::vector<MinibatchRun> runs;
    for (std::size_t slot = 0; slot < number; ++slot) {
      runs.push_back({(first + slot) % world.size(), factored::samples_of(slot)});
    }
    return runs;
  }

  void send(FactorExchange& exchange, std::size_t slot) {
    for (const std::size_t which : {1UL, 0UL}) {
      const FactoredTensor tensor = factored::factored_tensors()[which];
      std::vector<float> output_gradients = factored::factor(slot, tensor, 0);
      std::vector<float> inputs = factored::factor(slot, tensor, 1);
      exchange.send({tensor.tensor, output_gradients, inputs});
      std::ranges::fill(output_gradients, 1e30F);  // the model goes on
      std::ranges::fill(inputs, 1e30F);
    }
  }

  MultiplyFactors multiply = [this](const Factors& factors, std::span<float> gradient) {
    ++multiplied;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(factors.output_gradients.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(factors.inputs.data()) % 64, 0U);
    const auto tensors = factored::factored_tensors();
    const auto tensor = std::ranges::find(tensors, factors.tensor, &FactoredTensor::tensor);
    factored::multiply(*tensor, factors.output_gradients, factors.inputs, gradient);
  };

  Communicator world = Communicator::world();
  std::size_t multiplied = 0;
};

TEST_F(FactorExchangeTest, OtherNodesGetTheGradientsOfAllMinibatches) {
  for (const std::size_t per_node : {1UL, 2UL, 3UL}) {
    const Topology nodes(world, per_node);
    FactorExchange exchange(nodes, factored::factored_tensors(), multiply);
    for (std::size_t update = 0; update < 6; ++update) {
      const std::size_t number = 1 + update % (world.size() + 1);
      const std::vector<MinibatchRun> runs = runs_from(update, number);
      if (nodes.node_count() == 1) {
        EXPECT_FALSE(exchange.plan(runs, 100));
        continue;
      }
      ASSERT_TRUE(exchange.plan(runs, 100));
      std::this_thread::sleep_for(std::chrono::milliseconds((world.rank() + update) % 3));
      exchange.begin();
      for (std::size_t slot = 0; slot < number; ++slot) {
        if (runs[slot].rank == world.rank()) send(exchange, slot);
        exchange.poll();
      }
      multiplied = 0;
      const std::size_t others = exchange.plan().others().size();
      std::vector<std::vector<float>> places(others,
                                             std::vector<float>(factored::total_elements, 1e30F));
      while (!exchange.multiply([&](std::size_t i) { return std::span(places[i]); })) {
        std::this_thread::yield();
      }
      EXPECT_EQ(multiplied, 2 * others);
      std::size_t found = 0;
      for (std::size_t slot = 0; slot < number; ++slot) {
        const std::vector<float> expected = factored::gradient_of(slot);
        const auto is_right = [&](const std::vector<float>& place) {
          return std::ranges::all_of(factored::factored_tensors(), [&](const FactoredTensor& t) {
            return std::equal(&place[t.begin], &place[t.begin] + t.size(), &expected[t.begin]);
          });
        };
        // Of one rank the first of its slots comes first.
        if (found < others && exchange.plan().others()[found].rank == runs[slot].rank &&
            is_right(places[found])) {
          ++found;
        } else if (std::ranges::any_of(places, is_right)) {
          ++found;
        }
      }
      EXPECT_EQ(found, others) << "update " << update << ", " << per_node << " ranks a node";
    }
  }
}

TEST_F(FactorExchangeTest, PlansNothingOnceARankHasMultipliedUnlikeTheOthers) {
  const Topology nodes(world, 1);
  if (nodes.node_count() == 1) return;
  const std::size_t unlike_from = 4;  // samples
  FactorExchange exchange(
      nodes, factored::factored_tensors(), [&](const Factors& factors, std::span<float> gradient) {
        multiply(factors, gradient);
        const bool is_unlike =
            world.rank() == 1 && factors.tensor == 2 && factors.inputs.size() == 100 * unlike_from;
        if (is_unlike) gradient[77] = -gradient[77];
      });
  const auto with = [&](std::size_t samples) {
    return exchange.plan(std::vector<MinibatchRun>{{0, 2}, {1, samples}}, 100);
  };
  EXPECT_TRUE(with(3));
  EXPECT_EQ(multiplied, 4U) << "two tensors, two and three samples";
  EXPECT_TRUE(with(3));
  EXPECT_EQ(multiplied, 4U);
  EXPECT_FALSE(with(4));
  EXPECT_FALSE(with(3));
  EXPECT_TRUE(exchange.plan().tensors().empty());
}

TEST_F(FactorExchangeTest, SendsNothingThatIsNotPlanned) {
  const Topology nodes(world, 1);
  if (nodes.node_count() == 1) return;
  FactorExchange exchange(nodes, factored::factored_tensors(), multiply);
  ASSERT_TRUE(exchange.plan(runs_from(0, 2), 100));
  const std::size_t tried = multiplied;
  exchange.clear_plan();
  exchange.begin();
  if (world.rank() < 2) send(exchange, world.rank());
  EXPECT_TRUE(exchange.multiply([](std::size_t) { return std::span<float>(); }));
  EXPECT_EQ(multiplied, tried);
}

}  // namespace
}  // namespace rubato::optim
