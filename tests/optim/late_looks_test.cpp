// What owners see of gradients while they add them up, against a look at each by itself.
#include "optim/late_looks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_accumulator.hpp"
#include "tests/optim/plain_preconditioner.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

// Every rank is an owner: each block of all gradients is looked at by one of them.
template <class T>
class LateLooksOf : public testing::Test {
 protected:
  // Slots are dealt to the ranks from the last one on, so that they stand in another order.
  void look(std::size_t minibatches) {
    std::size_t kept = 0;
    NodeGradients::Parts parts;
    for (std::size_t slot = minibatches; slot-- > 0;) {
      if ((minibatches - 1 - slot) % ranks != topology.node().rank()) continue;
      std::ranges::copy(gradient_sum(slot), node.place(kept, array.data()).begin());
      parts.slots[kept++] = slot;
    }
    parts.gradients = kept;
    node.set_parts(parts);
    largest.assign(3, 0);
    late.begin(largest, nullptr);
    world.barrier();
    const collectives::Slice slice = topology.my_slice(total_elements);
    const std::vector<const T*> arrays = arrays_of_all();
    for (std::size_t begin = slice.begin; begin < slice.end(); begin += norm_block_elements) {
      const std::size_t size = std::min(norm_block_elements, slice.end() - begin);
      std::vector<float> mean(size), expected(size);
      const T per_sample = T{1} / T{40}, per_minibatch = T{1} / T{6};
      const double square =
          node.template take_mean<T>(arrays, begin, expected, per_sample, per_minibatch);
      EXPECT_EQ(
          node.template look_and_take_mean<T>(arrays, begin, mean, per_sample, per_minibatch, late),
          square);
      EXPECT_EQ(mean, expected) << "block from " << begin;
    }
    world.barrier();
  }

  std::vector<const T*> arrays_of_all() {
    std::vector<const T*> arrays;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      arrays.push_back(memory.region_as<T>(rank).data());
    }
    return arrays;
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  std::size_t ranks = topology.node().size();
  TensorSegments segments{tensors(), total_elements};
  ExactUnits units{3};
  NodeGradients node{topology, segments, units, total_elements};
  collectives::NodeMemory memory{topology, total_elements * sizeof(T)};
  std::span<float> array{memory.region_as<float>(topology.node().rank())};
  std::vector<std::int64_t> largest;
  LateLooks late{topology, segments};
};

using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(LateLooksOf, Types);

TYPED_TEST(LateLooksOf, SeesWhatALookAtEachGradientSees) {
  const std::size_t most = sizeof(TypeParam) == sizeof(double) ? 4 : 3;
  for (std::size_t minibatches = 1; minibatches <= most; ++minibatches) {
    this->look(minibatches);
    std::vector<double> largest(3);
    for (std::size_t slot = 0; slot < minibatches; ++slot) {
      std::vector<float> unused(total_elements);
      GradientAccumulator accumulator(this->segments, 3, std::span<float>(unused));
      accumulator.begin();
      const double square = accumulator.look(gradient_sum(slot));
      EXPECT_EQ(this->late.square(slot), square) << "slot " << slot << " of " << minibatches;
      for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        const std::uint32_t bits = accumulator.largest_bits()[tensor];
        largest[tensor] = std::max(largest[tensor], double{std::bit_cast<float>(bits)});
      }
    }
    std::vector<double> found;
    for (const std::int64_t bits : this->largest) {
      found.push_back(double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))});
    }
    this->topology.all().maximum(found);
    EXPECT_EQ(found, largest);
    this->world.barrier();
  }
}

// A small tensor, which is weighed whole, and a large one, weighed in pieces.
TEST(LateLooks, WeighsAsEachMinibatchIsWeighed) {
  constexpr std::size_t elements = 19 * 4096, minibatches = 3;
  const std::vector<TensorRange> tensors = {{"small", 0, 1024}, {"large", 1024, elements - 1024}};
  const collectives::Communicator world = collectives::Communicator::world();
  const collectives::Topology topology(world);
  const TensorSegments segments(tensors, elements);
  const ExactUnits units(2);
  NodeGradients node(topology, segments, units, elements);
  const auto gradient = [&](std::size_t slot) {
    std::vector<float> values(elements);
    for (std::size_t i = 0; i < elements; ++i) {
      values[i] = std::sin(static_cast<float>(i % 1013) + static_cast<float>(slot));
    }
    return values;
  };
  std::vector<float> scales(elements);
  for (std::size_t i = 0; i < elements; ++i) scales[i] = static_cast<float>(1 + i % 7);
  PlainPreconditioner preconditioner;
  preconditioner.updates_done = 37;
  GradientMeasures measures(topology, segments, tensors,
                            {.preconditioner = &preconditioner, .preconditioner_state = scales});
  measures.take_scales();
  measures.begin(minibatches, nullptr);

  collectives::NodeMemory further(topology, elements * sizeof(double));
  std::vector<const double*> arrays;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    arrays.push_back(further.region_as<double>(rank).data());
  }
  NodeGradients::Parts parts;
  for (std::size_t slot = world.rank(); slot < minibatches; slot += world.size()) {
    float* const sums = further.region_as<float>(world.rank()).data();
    std::ranges::copy(gradient(slot), node.place(parts.gradients, sums).begin());
    parts.slots[parts.gradients++] = slot;
  }
  node.set_parts(parts);
  LateLooks late(topology, segments);
  std::vector<std::int64_t> largest(2);
  late.begin(largest, &measures);
  world.barrier();
  const collectives::Slice slice = topology.my_slice(elements);
  std::vector<float> mean(norm_block_elements);
  for (std::size_t begin = slice.begin; begin < slice.end(); begin += norm_block_elements) {
    node.look_and_take_mean<double>(arrays, begin, mean, 1.0, 1.0, late);
  }
  world.barrier();

  for (std::size_t slot = 0; slot < minibatches; ++slot) {
    const std::vector<float> values = gradient(slot);
    for (std::size_t i = 0; i < segments.parameters(); ++i) {
      const Segment& segment = segments.all()[i];
      measures.take(i, std::span(values).subspan(segment.begin, segment.size));
    }
    const double weighed = measures.finish_minibatch({}, 1);
    EXPECT_GT(weighed, 0);
    EXPECT_EQ(late.weighed_square(slot), weighed) << "slot " << slot;
  }
  world.barrier();
}

}  // namespace
}  // namespace rubato::optim
