// Blocks added up from ranks in all mixtures of forms, against a plain loop.
#include "optim/node_gradients.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/norm_block.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using namespace testing;
using Form = NodeGradients::Form;

// Which form a rank has: over the rounds, every mixture of neighbours.
Form form_of(std::size_t rank, std::size_t round) {
  constexpr std::size_t forms = 3;
  const auto digits = static_cast<std::size_t>(std::pow(forms, rank));
  return static_cast<Form>(round / digits % forms);
}

template <class T>
class NodeGradientsOf : public ::testing::Test {
 protected:
  NodeGradientsOf() { units.restore({0, 3, -2}); }

  // A rank's array of sums: multiples of a power of two, so that exact sums of them are exact.
  static T sum_of(std::size_t rank, std::size_t i) {
    return static_cast<T>((i * (rank + 3)) % 1000) / T{8};
  }
  T addend(Form form, std::size_t rank, std::size_t i) const {
    if (form == Form::sums) return sum_of(rank, i);
    const float value = gradients[rank][i];
    if constexpr (std::is_same_v<T, float>) {
      return value;
    } else {
      const std::size_t tensor = i < 5008 ? 0 : (i < parameter_elements ? 1 : 2);
      const double constant = units.rounding_constant(tensor);
      return (static_cast<double>(value) + constant) - constant;
    }
  }
  // In rank order: the sum of floats depends on it.
  T expected(std::size_t first, std::size_t count, std::size_t round, std::size_t i) const {
    bool is_empty = true;
    T sum{};
    for (std::size_t rank = first; rank < first + count; ++rank) {
      const Form form = form_of(rank, round);
      if (form == Form::nothing) continue;
      sum = is_empty ? addend(form, rank, i) : sum + addend(form, rank, i);
      is_empty = false;
    }
    return sum;
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Topology topology{world};
  TensorSegments segments{tensors(), total_elements};
  ExactUnits units{3};
  std::vector<std::vector<float>> gradients;
};

using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(NodeGradientsOf, Types);

TYPED_TEST(NodeGradientsOf, AddsUpRanksOfAllForms) {
  using T = TypeParam;
  NodeGradients node(this->topology, this->segments, this->units, total_elements);
  const std::size_t ranks = this->topology.node().size();
  std::vector<std::vector<T>> sums(ranks);
  std::vector<const T*> arrays;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    this->gradients.push_back(gradient_sum(rank));
    for (std::size_t i = 0; i < total_elements; ++i) sums[rank].push_back(this->sum_of(rank, i));
    arrays.push_back(sums[rank].data());
  }
  ASSERT_EQ(node.mine().size(), total_elements);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node.mine().data()) % 64, 0U);
  std::ranges::copy(this->gradients[this->topology.node().rank()], node.mine().begin());

  const auto rounds = static_cast<std::size_t>(std::pow(3, ranks));
  for (std::size_t round = 0; round < rounds; ++round) {
    node.set_form(form_of(this->topology.node().rank(), round));
    this->world.barrier();
    for (const std::size_t first : {std::size_t{0}, ranks - 1}) {
      std::size_t wrong = 0;
      for (std::size_t begin = 0; begin < total_elements; begin += norm_block_elements) {
        std::vector<T> block(std::min(norm_block_elements, total_elements - begin), T{99});
        node.add_up<T>(first, std::span(arrays).subspan(first), begin, block);
        for (std::size_t i = 0; i < block.size(); i += 7) {
          wrong += block[i] == this->expected(first, ranks - first, round, begin + i) ? 0U : 1U;
        }
      }
      EXPECT_EQ(wrong, 0U) << "round " << round << ", from rank " << first;
    }
    this->world.barrier();
  }
}

}  // namespace
}  // namespace rubato::optim
