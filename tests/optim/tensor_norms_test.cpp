// Norms that the owners of slices note segment by segment are those of whole tensors.
#include "optim/tensor_norms.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/squared_norm.hpp"
#include "tests/optim/layered_run.hpp"

namespace rubato::optim {
namespace {

// Of a tensor of the whole buffer, segment by segment.
double square_of(const TensorSegments& segments, std::size_t tensor,
                 const std::vector<float>& values) {
  double sum = 0;
  for (const Segment& segment : segments.all()) {
    if (segment.tensor != tensor) continue;
    sum += squared_norm(std::span<const float>(values).subspan(segment.begin, segment.size));
  }
  return sum;
}

TEST(TensorNorms, AddsTheSegmentsOfEachTensor) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const TensorSegments segments(layered_tensors(), total_elements);
  TensorNorms norms(topology, segments);
  ASSERT_EQ(norms.tensors(), 3U);  // running statistics are none
  for (std::size_t i = world.rank(); i < segments.parameters(); i += world.size()) {
    norms.note_direction(i, static_cast<double>(i + 1));
  }
  world.barrier();
  std::vector<double> expected(3);
  for (std::size_t i = 0; i < segments.parameters(); ++i) {
    expected[segments.all()[i].tensor] += static_cast<double>(i + 1);
  }
  for (std::size_t tensor = 0; tensor < 3; ++tensor) {
    EXPECT_EQ(norms.direction(tensor), expected[tensor]);
  }
  EXPECT_EQ(norms.first_of(0), 0U);
  EXPECT_EQ(segments.all()[norms.first_of(2)].begin, 5040U);
  EXPECT_EQ(norms.first_of(3), segments.parameters());
  world.barrier();
}

TEST(TensorNorms, NewWeightsCountFromTheNextTurnOn) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const TensorSegments segments(layered_tensors(), total_elements);
  TensorNorms norms(topology, segments);
  for (const double square : {1.0, 5.0, 7.0}) {
    const double before = norms.weights(1);
    if (world.rank() == 0) norms.note_new_weights(norms.first_of(1), square);
    world.barrier();
    EXPECT_EQ(norms.weights(1), before);
    norms.turn();
    EXPECT_EQ(norms.weights(1), square);
    world.barrier();
  }
}

// On one node and on several, from a pass that makes the mean anyway.
TEST(TensorNorms, KnowTheMeanGradientWhenItIsSummed) {
  const auto world = collectives::Communicator::world();
  for (const std::size_t ranks_per_node : {1UL, 2UL, 5UL}) {
    const collectives::Topology topology(world, ranks_per_node);
    GradientSync sync(topology, layered_tensors(), parameter_elements, total_elements,
                      SumKind::exact, collectives::AllreduceAlgorithm::automatic);
    TensorNorms norms(topology, sync.segments());
    sync.show_mean_to([&](std::size_t begin, std::span<const float> mean, double square) {
      norms.note_gradient(begin, mean, square);
    });
    UpdateSums sums;
    sums.stands = false;
    while (!sums.stands) {
      sync.begin(3, 24);
      for (std::size_t slot = world.rank(); slot < 3; slot += world.size()) {
        sync.accumulate({slot, 8, 0, 0}, gradient_sum(slot));
      }
      sums = sync.sum();
      sync.barrier();
    }
    const std::vector<double> mean = whole_mean(sync, topology);
    const std::vector<float> rounded(mean.begin(), mean.end());
    double all = 0;
    for (std::size_t tensor = 0; tensor < 3; ++tensor) {
      EXPECT_EQ(norms.gradient(tensor), square_of(sync.segments(), tensor, rounded));
      all += norms.gradient(tensor);
    }
    EXPECT_NEAR(all, sums.gradient.mean_square, 1e-12 * all);
    sync.barrier();
  }
}

}  // namespace
}  // namespace rubato::optim
