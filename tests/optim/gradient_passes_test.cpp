// The passes in vectors of either width against loops over single elements.
#include "optim/gradient_passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/processor_flags.hpp"

namespace rubato::optim {
namespace {

constexpr std::size_t sizes[] = {16, 48, 4096};
constexpr double unit = 1.0 / (1 << 20);
constexpr double constant = 1.5 * 0x1p52 * unit;

// Of no two gradients or elements the same, with magnitudes from 2^-12 to 1.
std::vector<float> gradient(std::size_t number, std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto phase = static_cast<float>(1 + i % 1013) * 0.37F + static_cast<float>(number) * 1.7F;
    values[i] = std::ldexp(std::sin(phase), -static_cast<int>((i + number) % 13));
  }
  return values;
}

template <class T>
T addend(float value) {
  if constexpr (std::is_same_v<T, float>) return value;
  return static_cast<T>((static_cast<double>(value) + constant) - constant);
}

// Adds the squares of floats to those of the lanes.
void add_squares(std::span<const float> values, LaneSquares& squares) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares[i % lanes] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
}

// Fours of lanes, then these in pairs.
double in_order(const LaneSquares& s) {
  const auto four = [&](std::size_t i) { return (s[i] + s[i + 1]) + (s[i + 2] + s[i + 3]); };
  return (four(0) + four(4)) + (four(8) + four(12));
}

SegmentFacts facts_by_element(std::span<const float> values) {
  LaneSquares squares{};
  add_squares(values, squares);
  std::uint32_t largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::bit_cast<std::uint32_t>(std::abs(value)));
  }
  return {in_order(squares), largest};
}

void expect_facts(const SegmentFacts& found, std::span<const float> values) {
  EXPECT_EQ(found.square, facts_by_element(values).square);
  EXPECT_EQ(found.largest_bits, facts_by_element(values).largest_bits);
}

template <class T>
class GradientPassesOf : public testing::Test {
 protected:
  using Type = T;

  template <class Use>
  static void for_each_width(const Use& use) {
    for (const VectorWidth width : {VectorWidth::of_build, VectorWidth::of_512_bits}) {
      SCOPED_TRACE(width == VectorWidth::of_build ? "of the build" : "of 512 bits");
      if (const auto* const passes = gradient_passes<T>(width)) use(*passes);
    }
  }

  // What sums hold before they are added to.
  static std::vector<Type> sums_before(std::size_t size) {
    std::vector<Type> sums(size);
    for (std::size_t i = 0; i < size; ++i) sums[i] = static_cast<Type>(i % 31) - Type{15};
    return sums;
  }
  static Type expected_sum(bool is_first, Type before, std::span<const float> added) {
    // Exactly of doubles in any order; of floats what is added is added up first.
    Type sum = addend<Type>(added[0]);
    for (const float more : added.subspan(1)) sum += addend<Type>(more);
    return is_first ? sum : before + sum;
  }
};

using SumTypes = testing::Types<double, float>;
TYPED_TEST_SUITE(GradientPassesOf, SumTypes);

TYPED_TEST(GradientPassesOf, LooksAtEveryElement) {
  this->for_each_width([&](const auto& passes) {
    for (const std::size_t size : sizes) {
      std::vector<float> values = gradient(1, size);
      expect_facts(passes.look(values.data(), size), values);
      for (std::size_t i = 0; i < size; i += size / 16 + 1) {  // in each lane
        std::vector<float> with_a_large_one = values;
        with_a_large_one[i] = -1000.0F - static_cast<float>(i);
        expect_facts(passes.look(with_a_large_one.data(), size), with_a_large_one);
      }
    }
  });
}

TYPED_TEST(GradientPassesOf, TellsOfInfinityAndNan) {
  this->for_each_width([&](const auto& passes) {
    for (const float odd :
         {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
          std::numeric_limits<float>::quiet_NaN()}) {
      for (std::size_t i = 0; i < lanes; ++i) {
        std::vector<float> values = gradient(1, 48);
        values[16 + i] = odd;
        EXPECT_GE(passes.look(values.data(), 48).largest_bits,
                  std::bit_cast<std::uint32_t>(std::numeric_limits<float>::infinity()));
      }
    }
  });
}

TYPED_TEST(GradientPassesOf, AddsWhatItLooksAt) {
  this->for_each_width([&](const auto& passes) {
    for (const std::size_t size : sizes) {
      for (const bool is_first : {true, false}) {
        const std::vector<float> values = gradient(2, size);
        const auto before = this->sums_before(size);
        auto sums = before;
        expect_facts(passes.add(values.data(), size, constant, is_first, sums.data()), values);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(sums[i], this->expected_sum(is_first, before[i], {{values[i]}})) << i;
        }
      }
    }
  });
}

TYPED_TEST(GradientPassesOf, AddsTwoInOnePass) {
  this->for_each_width([&](const auto& passes) {
    for (const std::size_t size : sizes) {
      for (const bool is_first : {true, false}) {
        const std::vector<float> a = gradient(3, size);
        const std::vector<float> b = gradient(4, size);
        const auto before = this->sums_before(size);
        auto sums = before;
        const auto [of_a, of_b] =
            passes.add_two(a.data(), b.data(), size, constant, is_first, sums.data());
        expect_facts(of_a, a);
        expect_facts(of_b, b);
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(sums[i], this->expected_sum(is_first, before[i], {{a[i], b[i]}})) << i;
        }
      }
    }
  });
}

// Floats one after the other, as they come from rank to rank.
TYPED_TEST(GradientPassesOf, AddsUpOneOrTwo) {
  using T = TypeParam;
  this->for_each_width([&](const auto& passes) {
    for (const std::size_t size : sizes) {
      for (const bool is_first : {true, false}) {
        for (const bool has_two : {false, true}) {
          const std::vector<float> a = gradient(5, size);
          const std::vector<float> b = gradient(6, size);
          const auto before = this->sums_before(size);
          auto sums = before;
          passes.add_up(a.data(), has_two ? b.data() : nullptr, size, constant, is_first,
                        sums.data());
          for (std::size_t i = 0; i < size; ++i) {
            T expected = is_first ? addend<T>(a[i]) : before[i] + addend<T>(a[i]);
            if (has_two) expected += addend<T>(b[i]);
            ASSERT_EQ(sums[i], expected) << i;
          }
        }
      }
    }
  });
}

// The mean of gradients, written over the one of that number, or elsewhere if there is none.
template <class T>
void expect_mean(const GradientPasses<T>& passes, const std::vector<std::vector<float>>& gradients,
                 std::size_t over, bool looks) {
  constexpr T factor = T{1} / T{40};
  const std::size_t size = gradients[0].size();
  std::vector<float> expected(size);
  for (std::size_t i = 0; i < size; ++i) {
    T sum = addend<T>(gradients[0][i]);
    for (const auto& more : std::span(gradients).subspan(1)) sum += addend<T>(more[i]);
    expected[i] = static_cast<float>(sum * factor);
  }
  LaneSquares squares{};
  for (std::size_t lane = 0; lane < lanes; ++lane) squares[lane] = static_cast<double>(lane);
  LaneSquares expected_squares = squares;
  add_squares(expected, expected_squares);

  auto copies = gradients;
  copies.resize(gradients.size() + 1, std::vector<float>(size, 99.0F));
  std::vector<float>& mean = copies[over];
  std::vector<const float*> from;
  for (std::size_t k = 0; k < gradients.size(); ++k) from.push_back(copies[k].data());
  if (looks) {
    const Looks found =
        passes.look_and_take_mean(from, size, constant, factor, mean.data(), squares);
    std::uint32_t largest = 0;
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      const SegmentFacts facts_of_one = facts_by_element(gradients[k]);
      EXPECT_EQ(found.squares[k], facts_of_one.square) << k << " of " << gradients.size();
      largest = std::max(largest, facts_of_one.largest_bits);
    }
    EXPECT_EQ(found.largest_bits, largest);
  } else {
    passes.take_mean(from, size, constant, factor, mean.data(), squares);
  }
  EXPECT_EQ(mean, expected) << "of " << gradients.size() << " over " << over;
  EXPECT_EQ(squares, expected_squares) << "of " << gradients.size() << " over " << over;
}

TYPED_TEST(GradientPassesOf, TakesTheMeanOfUpToEight) {
  this->for_each_width([&](const auto& passes) {
    for (const std::size_t size : sizes) {
      std::vector<std::vector<float>> gradients;
      while (gradients.size() < most_in_place) {
        gradients.push_back(gradient(10 + gradients.size(), size));
        for (std::size_t over = 0; over <= gradients.size(); ++over) {
          for (const bool looks : {false, true}) expect_mean(passes, gradients, over, looks);
        }
      }
    }
  });
}

TEST(GradientPasses, AreThoseOfTheWidestVectors) {
  const bool has_512_bits = processor_has_512_bits();
  const auto* const wide = gradient_passes<double>(VectorWidth::of_512_bits);
  const auto* const of_build = gradient_passes<double>(VectorWidth::of_build);
  ASSERT_NE(of_build, nullptr);
  EXPECT_EQ(wide != nullptr, has_512_bits);
  EXPECT_EQ(&gradient_passes<double>(), has_512_bits ? wide : of_build);
}

TEST(LaneSquares, AreAddedByFours) {
  LaneSquares squares{};
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    squares[lane] = std::ldexp(1.0 + 1.0 / 3, static_cast<int>(lane * 7 % 16) * 9);
  }
  EXPECT_EQ(sum_in_order(squares), in_order(squares));
}

}  // namespace
}  // namespace rubato::optim
