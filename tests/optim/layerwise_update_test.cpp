// Slices done by several owners, on any nodes, give the bits of one rank alone; these are what a
// plain loop over each tensor gives; and a run that is taken up in its middle goes on as if it had
// not been left.
#include "optim/layerwise_update.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/optim/layered_run.hpp"

namespace rubato::optim {
namespace {

constexpr std::array rates = {0.25, 0.5, 0.125, 0.5};

std::vector<float> result_on(const collectives::Topology& topology, const OptimizerOptions& options,
                             bool is_taken_up) {
  LayeredRun run(topology, options);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (is_taken_up && i == 2) run.take_up();
    run.update({rates[i], 1});
  }
  std::vector<float> result = run.everything();
  topology.node().barrier();
  return result;
}

std::string label(const OptimizerOptions& options, std::size_t ranks_per_node) {
  return options.name + ", form " + std::to_string(static_cast<int>(options.lars_form)) +
         ", momentum " + std::to_string(options.momentum) + ", ranks per node " +
         std::to_string(ranks_per_node);
}

TEST(LayerwiseUpdate, GivesTheSameBitsOnAnyRanksAndNodesAndWhenTakenUp) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  const collectives::Topology alone(self);
  for (const OptimizerOptions& options : layerwise_options()) {
    const std::vector<float> expected = result_on(alone, options, false);
    for (const std::size_t ranks_per_node : {1UL, 2UL, 5UL}) {
      const collectives::Topology topology(world, ranks_per_node);
      for (const bool is_taken_up : {false, true}) {
        EXPECT_EQ(result_on(topology, options, is_taken_up), expected)
            << label(options, ranks_per_node);
      }
    }
  }
}

// LARS in its paper's form, written down anew, of tensors as wholes.
TEST(LayerwiseUpdate, IsWhatAPlainLoopOverEachTensorDoes) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  OptimizerOptions options{.name = "lars", .momentum = 0.5, .weight_decay = 0.25};
  options.epsilon = 0;
  options.trust = 0.1;
  LayeredRun run(topology, options);
  std::vector<double> w(run.parameters().begin(), run.parameters().end());
  std::vector<double> v(parameter_elements);
  for (const double rate : rates) {
    run.update({rate, 1});
    const std::vector<double> g = whole_mean(run.sync(), topology);
    for (const TensorRange& tensor : layered_tensors()) {
      double w_square = 0, g_square = 0;
      for (std::size_t i = tensor.begin; i < tensor.begin + tensor.size; ++i) {
        w_square += w[i] * w[i];
        g_square += g[i] * g[i];
      }
      const double decay = tensor.is_vector ? 0 : 0.25;
      const double lambda =
          0.1 * std::sqrt(w_square) / (std::sqrt(g_square) + decay * std::sqrt(w_square));
      const double way = tensor.is_vector ? rate : rate * lambda;
      for (std::size_t i = tensor.begin; i < tensor.begin + tensor.size; ++i) {
        if (tensor.is_parameter) {
          v[i] = 0.5 * v[i] + way * (g[i] + decay * w[i]);
          w[i] -= v[i];
        } else {
          w[i] = 0.9 * 0.9 * 0.9 * w[i] + (1 - 0.9 * 0.9 * 0.9) * g[i];
        }
        ASSERT_NEAR(run.parameters()[i], w[i], 2e-6) << tensor.name << ", element " << i;
      }
    }
    run.sync().barrier();
  }
}

}  // namespace
}  // namespace rubato::optim
