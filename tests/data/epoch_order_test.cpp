// Both orders: the first against PyTorch's published numbers, the second against what a permutation
// must be.
#include "data/epoch_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

std::vector<std::uint64_t> order_of(OrderKind kind, std::uint64_t samples, std::uint64_t seed,
                                    std::uint64_t epoch) {
  std::vector<std::uint64_t> order(samples);
  EpochOrder(kind, samples, seed, epoch).read(0, order);
  return order;
}

bool is_permutation_of_all(std::vector<std::uint64_t> order) {
  std::sort(order.begin(), order.end());
  for (std::uint64_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

// torch.manual_seed(s); torch.randperm(10), PyTorch 1.13.
TEST(EpochOrderTorch, IsRandperm) {
  EXPECT_EQ(order_of(OrderKind::torch, 10, 0, 0),
            (std::vector<std::uint64_t>{4, 1, 7, 5, 3, 9, 0, 8, 6, 2}));
  EXPECT_EQ(order_of(OrderKind::torch, 10, 42, 1),
            (std::vector<std::uint64_t>{8, 4, 9, 0, 5, 1, 6, 7, 2, 3}));
  // Only the low 32 bits of the seed count.
  EXPECT_EQ(order_of(OrderKind::torch, 10, (std::uint64_t{1} << 32U) + 1, 0),
            order_of(OrderKind::torch, 10, 0, 1));
}

TEST(EpochOrderTorch, RefusesSetsThatRandpermTreatsOtherwise) {
  EXPECT_EQ(
      thrown_message<std::invalid_argument>([] { EpochOrder(OrderKind::torch, 214748364, 0, 0); }),
      "order torch: found 214748364 samples, expected fewer than 214748364; use order feistel");
}

TEST(EpochOrderFeistel, IsAPermutationOfEverySmallSize) {
  for (std::uint64_t samples = 1; samples <= 300; ++samples) {
    EXPECT_TRUE(is_permutation_of_all(order_of(OrderKind::feistel, samples, 7, 3))) << samples;
  }
  for (const std::uint64_t samples :
       {1023U, 1024U, 1025U, 4096U, 4097U, 60000U, 65537U, 1000003U}) {
    EXPECT_TRUE(is_permutation_of_all(order_of(OrderKind::feistel, samples, 42, 0))) << samples;
  }
}

TEST(EpochOrderFeistel, StaysInRangeAndDistinctInSetsTooLargeToPermute) {
  for (const unsigned bits : {33U, 40U, 62U, 63U}) {
    const std::uint64_t samples = (std::uint64_t{1} << bits) + 12345;
    std::vector<std::uint64_t> some(20000);
    EpochOrder(OrderKind::feistel, samples, 1, 1).read(samples - some.size(), some);
    std::sort(some.begin(), some.end());
    EXPECT_LT(some.back(), samples);
    EXPECT_EQ(std::adjacent_find(some.begin(), some.end()), some.end());
    EXPECT_GT(some.back() - some.front(), samples / 10 * 9);
  }
}

TEST(EpochOrderFeistel, ReadsAnyPartOfTheSameOrder) {
  const EpochOrder order(OrderKind::feistel, 1000, 5, 6);
  const auto whole = order_of(OrderKind::feistel, 1000, 5, 6);
  std::vector<std::uint64_t> part(37);
  order.read(401, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 401));
}

TEST(EpochOrderFeistel, SeedAndEpochBothCountAndDoNotAddUp) {
  const auto order = order_of(OrderKind::feistel, 1000, 42, 0);
  EXPECT_NE(order, order_of(OrderKind::feistel, 1000, 42, 1));
  EXPECT_NE(order, order_of(OrderKind::feistel, 1000, 43, 0));
  EXPECT_NE(order_of(OrderKind::feistel, 1000, 42, 1), order_of(OrderKind::feistel, 1000, 43, 0));
  EXPECT_NE(order, order_of(OrderKind::feistel, 1000, 42 + (std::uint64_t{1} << 32U), 0));
  EXPECT_NE(order, order_of(OrderKind::feistel, 1000, 42, std::uint64_t{1} << 32U));
}

// Chi-squared over where samples land: position p (of 10) against sample s (of 10), over many
// epochs. Expected 9 * 9 = 81 degrees of freedom; 81 + 4 standard deviations = 132.
double chi_squared_of_ten(OrderKind kind) {
  constexpr int epochs = 20000;
  std::vector<int> counts(100, 0);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto order = order_of(kind, 10, 42, epoch);
    for (std::size_t position = 0; position < 10; ++position)
      ++counts[position * 10 + order[position]];
  }
  double chi_squared = 0;
  for (const int count : counts)
    chi_squared += std::pow(count - epochs / 10.0, 2) / (epochs / 10.0);
  return chi_squared;
}

TEST(EpochOrder, SequentialIsTheDataSetsOwn) {
  EXPECT_EQ(order_of(OrderKind::sequential, 4, 7, 3), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  std::vector<std::uint64_t> some(2);
  EpochOrder(OrderKind::sequential, 9, 0, 0).read(5, some);
  EXPECT_EQ(some, (std::vector<std::uint64_t>{5, 6}));
}

TEST(EpochOrder, SpreadsSamplesEvenlyOverPositions) {
  EXPECT_LT(chi_squared_of_ten(OrderKind::torch), 132);
  EXPECT_LT(chi_squared_of_ten(OrderKind::feistel), 132);
}

TEST(EpochOrderFeistel, NeighboursArePartedAsInARandomOrder) {
  const auto order = order_of(OrderKind::feistel, 60000, 42, 0);
  double distance = 0;
  std::size_t ascents = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    distance += std::abs(static_cast<double>(order[i + 1]) - static_cast<double>(order[i]));
    if (order[i + 1] > order[i]) ++ascents;
  }
  EXPECT_NEAR(distance / 59999, 20000, 300);  // a third of the range
  EXPECT_NEAR(static_cast<double>(ascents), 30000, 300);
}

TEST(EpochOrder, RefusesPositionsBeyondTheEnd) {
  const EpochOrder order(OrderKind::torch, 10, 0, 0);
  std::vector<std::uint64_t> three(3);
  EXPECT_EQ(thrown_message<std::out_of_range>([&] { order.read(8, three); }),
            "epoch order: found positions 8 to 11, expected at most 10");
}

TEST(EpochOrder, Names) {
  for (const OrderKind kind : {OrderKind::torch, OrderKind::feistel, OrderKind::sequential}) {
    EXPECT_EQ(order_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { order_kind("random"); }),
            "order: found \"random\", expected torch, feistel or sequential");
}

}  // namespace
}  // namespace rubato::data
