// What owners see of gradients while they add them up, against a look at each by itself.
#include "optim/late_looks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

// A node whose ranks add up gradients in T, as the owners of slices. Collective.
template <class T>
class Owners {
 public:
  Owners(const std::vector<TensorRange>& tensors, std::size_t total_elements)
      : segments_(tensors, total_elements),
        units_(tensors.size()),
        node_(topology_, segments_, units_, total_elements),
        sums_(topology_, total_elements * sizeof(T)),
        late_(topology_, segments_),
        largest_(tensors.size()) {
    for (std::size_t rank = 0; rank < topology_.node().size(); ++rank) {
      arrays_.push_back(sums_.region_as<T>(rank).data());
    }
  }

  // Deals the gradients to the ranks from the last one on, so that slots stand in another order;
  // then each owner takes the mean of its blocks.
  void look_at(const std::vector<std::vector<float>>& gradients, const GradientMeasures* measures) {
    const std::size_t me = topology_.node().rank();
    NodeGradients::Parts parts;
    for (std::size_t i = me; i < gradients.size(); i += topology_.node().size()) {
      const std::size_t slot = gradients.size() - 1 - i;
      float* const sums = sums_.region_as<float>(me).data();
      std::ranges::copy(gradients[slot], node_.place(parts.gradients, sums).begin());
      parts.slots[parts.gradients++] = slot;
    }
    node_.set_parts(parts);
    std::ranges::fill(largest_, 0);
    late_.begin(largest_, measures);
    barrier();
    const collectives::Slice slice = topology_.my_slice(gradients[0].size());
    for (std::size_t begin = slice.begin; begin < slice.end(); begin += norm_block_elements) {
      take_mean(begin, std::min(norm_block_elements, slice.end() - begin));
    }
    barrier();
  }

  const collectives::Topology& topology() const { return topology_; }
  const TensorSegments& segments() const { return segments_; }
  const LateLooks& late() const { return late_; }
  void barrier() const { world_.barrier(); }
  // Of each tensor, over all owners.
  std::vector<std::int64_t> largest() const {
    std::vector<std::int64_t> largest = largest_;
    world_.maximum(largest);
    return largest;
  }

 private:
  // Over the gradient in the first place, as updates do.
  void take_mean(std::size_t begin, std::size_t size) {
    const T per_sample = T{1} / T{40}, per_minibatch = T{1} / T{6};
    std::vector<float> expected(size);
    const double square =
        node_.template take_mean<T>(arrays_, begin, expected, per_sample, per_minibatch);
    const std::span<float> mean = node_.first_place().subspan(begin, size);
    EXPECT_EQ(node_.template look_and_take_mean<T>(arrays_, begin, mean, per_sample, per_minibatch,
                                                   late_),
              square);
    EXPECT_TRUE(std::ranges::equal(mean, expected)) << "block from " << begin;
  }

  collectives::Communicator world_ = collectives::Communicator::world();
  collectives::Topology topology_{world_};
  TensorSegments segments_;
  ExactUnits units_;
  NodeGradients node_;
  collectives::NodeMemory sums_;
  std::vector<const T*> arrays_;
  LateLooks late_;
  std::vector<std::int64_t> largest_;
};

template <class T>
class LateLooksOf : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(LateLooksOf, Types);

TYPED_TEST(LateLooksOf, SeesWhatALookAtEachGradientSees) {
  Owners<TypeParam> owners(tensors(), total_elements);
  std::vector<std::vector<float>> gradients;
  const std::size_t most_of_a_rank = sizeof(TypeParam) == sizeof(double) ? 4 : 3;
  const std::size_t most =
      std::min(most_in_place, owners.topology().node().size() * most_of_a_rank);
  while (gradients.size() < most) {
    gradients.push_back(gradient_sum(gradients.size()));
    owners.look_at(gradients, nullptr);
    std::vector<std::int64_t> largest(3);
    for (std::size_t slot = 0; slot < gradients.size(); ++slot) {
      std::vector<float> unused(total_elements);
      GradientAccumulator accumulator(owners.segments(), 3, std::span<float>(unused));
      accumulator.begin();
      EXPECT_EQ(owners.late().square(slot), accumulator.look(gradients[slot]))
          << "slot " << slot << " of " << gradients.size();
      for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        largest[tensor] =
            std::max<std::int64_t>(largest[tensor], accumulator.largest_bits()[tensor]);
      }
    }
    EXPECT_EQ(owners.largest(), largest);
    owners.barrier();
  }
}

// A small tensor, which is weighed whole, and a large one, weighed in pieces.
TEST(LateLooks, WeighsAsEachMinibatchIsWeighed) {
  constexpr std::size_t elements = 19 * 4096;
  const std::vector<TensorRange> tensors = {{"small", 0, 1024}, {"large", 1024, elements - 1024}};
  std::vector<std::vector<float>> gradients(3, std::vector<float>(elements));
  std::vector<float> scales(elements);
  for (std::size_t i = 0; i < elements; ++i) {
    scales[i] = static_cast<float>(1 + i % 7);
    for (std::size_t slot = 0; slot < gradients.size(); ++slot) {
      gradients[slot][i] = std::sin(static_cast<float>(i % 1013) + static_cast<float>(slot));
    }
  }
  Owners<double> owners(tensors, elements);
  PlainPreconditioner preconditioner;
  preconditioner.updates_done = 37;
  GradientMeasures measures(owners.topology(), owners.segments(), tensors,
                            {.preconditioner = &preconditioner, .preconditioner_state = scales});
  measures.take_scales();
  measures.begin(gradients.size(), nullptr);
  owners.barrier();
  owners.look_at(gradients, &measures);

  for (std::size_t slot = 0; slot < gradients.size(); ++slot) {
    for (std::size_t i = 0; i < owners.segments().parameters(); ++i) {
      const Segment& segment = owners.segments().all()[i];
      measures.take(i, std::span(gradients[slot]).subspan(segment.begin, segment.size));
    }
    const double weighed = measures.finish_minibatch({}, 1);
    EXPECT_GT(weighed, 0);
    EXPECT_EQ(owners.late().weighed_square(slot), weighed) << "slot " << slot;
  }
  owners.barrier();
}

}  // namespace
}  // namespace rubato::optim
