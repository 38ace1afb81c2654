// A rank's gradients, however many and wherever computed, against a plain sum and one pass each.
#include "optim/rank_gradients.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/norm_block.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

enum class Computed { in_place, elsewhere, alternately };

enum class Sums { seen_by_the_node, private_ones };

class RankGradientsTest : public testing::TestWithParam<std::tuple<Computed, Sums>> {
 protected:
  RankGradientsTest() { units.restore({2, 3, 1}); }

  static Computed computed() { return std::get<0>(GetParam()); }
  static bool are_few(std::size_t number) {
    return number <= (std::get<1>(GetParam()) == Sums::seen_by_the_node ? 4 : 2);
  }

  // Takes `number` gradients, of which the last comes in two parts where `in_parts` says so.
  void take_all(std::size_t number, bool in_parts) {
    squares.assign(number, -1);
    mine.begin(number);
    std::vector<float> elsewhere(total_elements);
    for (std::size_t i = 0; i < number; ++i) {
      const std::vector<float> gradient = gradient_sum(first_gradient() + i);
      const bool in_place =
          computed() == Computed::in_place || (computed() == Computed::alternately && i % 2 == 1);
      const std::span<float> place = in_place ? mine.place() : elsewhere;
      if (in_parts && i + 1 == number) {
        std::ranges::fill(place, 1e30F);
        std::copy(gradient.begin() + 5008, gradient.end(), place.begin() + 5008);
        const bool is_copied = are_few(number) && !in_place;
        EXPECT_EQ(mine.take_from(5008, place), is_copied ? total_elements : 5008U);
      }
      std::ranges::copy(gradient, place.begin());
      mine.take(place, squares[i]);
    }
  }

  // What the node makes of this rank's part alone.
  std::vector<double> part() const {
    std::vector<double> part(total_elements);
    const std::array<const double*, 1> arrays{sums.data()};
    for (std::size_t begin = 0; begin < total_elements; begin += norm_block_elements) {
      const std::size_t size = std::min(norm_block_elements, total_elements - begin);
      node.add_up<double>(topology.node().rank(), arrays, begin,
                          std::span(part).subspan(begin, size));
    }
    return part;
  }

  std::vector<double> expected_part(std::size_t number) const {
    std::vector<double> expected(total_elements, 0.0);
    for (std::size_t i = 0; i < number; ++i) {
      const std::vector<float> gradient = gradient_sum(first_gradient() + i);
      for (std::size_t element = 0; element < total_elements; ++element) {
        const double constant = units.rounding_constant(tensor_of(element));
        expected[element] += (static_cast<double>(gradient[element]) + constant) - constant;
      }
    }
    return expected;
  }

  std::vector<double> expected_squares(std::size_t number) const {
    std::vector<double> elsewhere(total_elements);
    GradientAccumulator plain(segments, 3, std::span(elsewhere));
    std::vector<double> expected;
    for (std::size_t i = 0; i < number; ++i) {
      expected.push_back(plain.look(gradient_sum(first_gradient() + i)));
    }
    return expected;
  }

  std::size_t first_gradient() const { return 10 * topology.node().rank(); }

  collectives::Topology topology{collectives::Communicator::world()};
  TensorSegments segments{tensors(), total_elements};
  ExactUnits units{3};
  NodeGradients node{topology, segments, units, total_elements};
  std::vector<double> sums = std::vector<double>(total_elements, 77.0);
  GradientAccumulator accumulator{segments, 3, std::span(sums)};
  RankGradients mine{node, accumulator, units,
                     std::get<1>(GetParam()) == Sums::seen_by_the_node
                         ? std::as_writable_bytes(std::span(sums))
                         : std::span<std::byte>()};
  std::vector<double> squares;
};

INSTANTIATE_TEST_SUITE_P(Places, RankGradientsTest,
                         testing::Combine(testing::Values(Computed::in_place, Computed::elsewhere,
                                                          Computed::alternately),
                                          testing::Values(Sums::seen_by_the_node,
                                                          Sums::private_ones)));

TEST_P(RankGradientsTest, AddUpAndAreMeasuredWhateverTheirNumber) {
  for (std::size_t number = 0; number <= 9; ++number) {
    for (const bool in_parts : {false, true}) {
      take_all(number, in_parts);
      EXPECT_EQ(part(), expected_part(number)) << number << " gradients";
      EXPECT_EQ(squares, expected_squares(number)) << number << " gradients";
    }
  }
}

TEST_P(RankGradientsTest, AnUpdateBegunAnewKnowsNothingOfTheOneBefore) {
  for (const std::size_t abandoned_after : {1UL, 2UL, 3UL}) {
    take_all(abandoned_after, false);
    mine.begin(7);
    std::ranges::copy(gradient_sum(99), mine.place().begin());
    double square = 0;
    mine.take(mine.place(), square);
    take_all(5, false);
    EXPECT_EQ(part(), expected_part(5));
    EXPECT_EQ(squares, expected_squares(5));
  }
}

// Wherever they were computed, they cost no addition before the mean is taken.
TEST_P(RankGradientsTest, AFewLeaveTheSumsAlone) {
  for (const std::size_t number : {1UL, 2UL}) take_all(number, false);
  EXPECT_EQ(std::ranges::count(sums, 77.0), total_elements);
  take_all(3, false);
  EXPECT_LT(std::ranges::count(sums, 77.0), total_elements);
}

TEST_P(RankGradientsTest, MoreThanTheRankSaidAreRefused) {
  for (const std::size_t number : {0UL, 2UL, 3UL, 5UL}) {
    take_all(number, false);
    double square = 0;
    EXPECT_THROW(mine.take(gradient_sum(0), square), std::logic_error) << number;
  }
}

}  // namespace
}  // namespace rubato::optim
