// Blocks added up from ranks that have this or that, in all mixtures, against a plain loop.
#include "optim/node_gradients.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/norm_block.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using Parts = NodeGradients::Parts;

// What a rank has: over the rounds, every mixture of neighbours. Three gradients need a place in
// the memory of the sums.
constexpr std::array<Parts, 5> all_parts = {
    {{0, false}, {1, false}, {2, false}, {1, true}, {3, false}}};
Parts parts_of(std::size_t rank, std::size_t round) {
  for (; rank > 0; --rank) round /= all_parts.size();
  return all_parts[round % all_parts.size()];
}

std::vector<float> gradient_of(std::size_t rank, std::size_t which) {
  return gradient_sum(3 * rank + which);
}

template <class T>
class NodeGradientsOf : public testing::Test {
 protected:
  NodeGradientsOf() {
    units.restore({0, 3, -2});
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < total_elements; ++i) {
        sums[rank].push_back(static_cast<T>((i * (rank + 3)) % 1000) / T{8});
      }
      for (const std::size_t which : {0UL, 1UL, 2UL}) {
        gradients.push_back(gradient_of(rank, which));
      }
    }
    for (const std::size_t which : {0UL, 1UL}) {
      std::ranges::copy(gradient_of(topology.node().rank(), which),
                        node.place(which, nullptr).begin());
    }
  }

  // Each rank's array of a round, as all see it: its sums, or its third gradient where those
  // would begin.
  std::vector<const T*> arrays_of(std::size_t round) {
    std::vector<const T*> arrays;
    shown = sums;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (parts_of(rank, round).gradients == 3) {
        std::memcpy(shown[rank].data(), gradients[3 * rank + 2].data(),
                    total_elements * sizeof(float));
      }
      arrays.push_back(shown[rank].data());
    }
    return arrays;
  }

  T rounded(float value, std::size_t i) const {
    if constexpr (std::is_same_v<T, float>) {
      return value;
    } else {
      const double constant = units.rounding_constant(tensor_of(i));
      return (static_cast<double>(value) + constant) - constant;
    }
  }
  // The arrays and then the gradients, in rank order: the sum of floats depends on it.
  T expected(std::size_t first, std::size_t round, std::size_t i) const {
    T sum{};
    for (std::size_t rank = first; rank < ranks; ++rank) {
      if (parts_of(rank, round).has_sums) sum += sums[rank][i];
    }
    for (std::size_t rank = first; rank < ranks; ++rank) {
      for (std::size_t which = 0; which < parts_of(rank, round).gradients; ++which) {
        sum += rounded(gradients[3 * rank + which][i], i);
      }
    }
    return sum;
  }
  // Sets every rank's parts for each round in turn, and lets `check` look at them.
  template <class Check>
  void for_each_round(const Check& check) {
    const auto rounds = static_cast<std::size_t>(std::pow(all_parts.size(), ranks));
    for (std::size_t round = 0; round < rounds; round += ranks < 4 ? 1 : 17) {
      node.set_parts(parts_of(topology.node().rank(), round));
      world.barrier();
      check(round);
      world.barrier();
    }
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  std::size_t ranks = topology.node().size();
  TensorSegments segments{tensors(), total_elements};
  ExactUnits units{3};
  NodeGradients node{topology, segments, units, total_elements};
  std::vector<std::vector<T>> sums{ranks};
  std::vector<std::vector<T>> shown;
  std::vector<std::vector<float>> gradients;
};

using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(NodeGradientsOf, Types);

TYPED_TEST(NodeGradientsOf, HasAlignedPlaces) {
  for (const std::size_t which : {0UL, 1UL}) {
    const std::span<float> place = this->node.place(which, nullptr);
    EXPECT_EQ(place.size(), total_elements);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place.data()) % 64, 0U);
  }
}

TYPED_TEST(NodeGradientsOf, HasItsFurtherPlacesInTheSums) {
  const std::size_t places = this->node.places_with(total_elements * sizeof(TypeParam));
  EXPECT_EQ(places, sizeof(TypeParam) == sizeof(double) ? 4U : 3U);
  auto* const array = reinterpret_cast<float*>(this->sums[0].data());
  for (std::size_t which = 2; which < places; ++which) {
    const std::span<float> place = this->node.place(which, array);
    EXPECT_EQ(place.data(), array + (which - 2) * total_elements);
    EXPECT_EQ(place.size(), total_elements);
  }
}

TYPED_TEST(NodeGradientsOf, AddsUpWhateverTheRanksHave) {
  using T = TypeParam;
  this->for_each_round([&](std::size_t round) {
    const std::vector<const T*> arrays = this->arrays_of(round);
    for (const std::size_t first : {std::size_t{0}, this->ranks - 1}) {
      std::size_t wrong = 0;
      for (std::size_t begin = 0; begin < total_elements; begin += norm_block_elements) {
        std::vector<T> block(std::min(norm_block_elements, total_elements - begin), T{99});
        this->node.template add_up<T>(first, std::span(arrays).subspan(first), begin, block);
        for (std::size_t i = 0; i < block.size(); i += 7) {
          wrong += block[i] == this->expected(first, round, begin + i) ? 0U : 1U;
        }
      }
      EXPECT_EQ(wrong, 0U) << "round " << round << ", from rank " << first;
    }
  });
}

// The sum and then its mean, in two steps, have the same bits.
TYPED_TEST(NodeGradientsOf, TakesTheMeanOfAFewGradients) {
  using T = TypeParam;
  constexpr T per_sample = T{1} / T{40};
  constexpr T per_minibatch = T{1} / T{6};
  std::size_t taken = 0;
  this->for_each_round([&](std::size_t round) {
    std::size_t count = 0;
    bool has_sums = false;
    for (std::size_t rank = 0; rank < this->ranks; ++rank) {
      count += parts_of(rank, round).gradients;
      has_sums = has_sums || parts_of(rank, round).has_sums;
    }
    ASSERT_EQ(this->node.can_take_mean(), !has_sums && count >= 1 && count <= most_in_place)
        << round;
    if (!this->node.can_take_mean()) return;
    ++taken;
    const std::vector<const T*> arrays = this->arrays_of(round);
    for (std::size_t begin = 0; begin < total_elements; begin += norm_block_elements) {
      const std::size_t size = std::min(norm_block_elements, total_elements - begin);
      const std::size_t parameters =
          begin < parameter_elements ? std::min(size, parameter_elements - begin) : 0;
      std::vector<T> sum(size);
      for (std::size_t i = 0; i < size; ++i) sum[i] = this->expected(0, round, begin + i);
      std::vector<float> expected(size);
      const double square =
          take_mean(std::span<const T>(sum).first(parameters), per_sample, expected.data());
      for (std::size_t i = parameters; i < size; ++i) {
        expected[i] = static_cast<float>(sum[i] * per_minibatch);
      }
      std::vector<float> mean(size, 99.0F);
      EXPECT_EQ(this->node.template take_mean<T>(arrays, begin, mean, per_sample, per_minibatch),
                square);
      ASSERT_EQ(mean, expected) << "round " << round << ", block from " << begin;
    }
  });
  EXPECT_GT(taken, 0U);
}

}  // namespace
}  // namespace rubato::optim
