#include "app/study_seed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/epoch_order.hpp"

namespace rubato::app {
namespace {

std::vector<std::string> names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back("batch=64,seed=" + std::to_string(i));
  return names;
}

TEST(StudySeed, IsFarFromAllOthers) {
  auto seeds = spaced_seeds(names(5000));
  std::sort(seeds.begin(), seeds.end());
  for (std::size_t i = 1; i < seeds.size(); ++i) {
    ASSERT_GE(seeds[i] - seeds[i - 1], most_epochs_of_a_seed);
  }
  EXPECT_LT(seeds.back() + most_epochs_of_a_seed - 1, std::uint64_t{1} << 32U)
      << "torch's generator has 32 bits";
}

TEST(StudySeed, BelongsToTheName) {
  const auto few = spaced_seeds(names(3));
  auto more = names(9);
  std::reverse(more.begin(), more.end());
  const auto seeds = spaced_seeds(more);
  EXPECT_EQ(seeds[8], few[0]);
  EXPECT_EQ(seeds[6], few[2]);
}

TEST(StudySeed, IsAnotherOneForANameThatIsThereAlready) {
  const auto seeds = spaced_seeds({"a", "a", "a"});
  EXPECT_EQ(std::set<std::uint64_t>(seeds.begin(), seeds.end()).size(), 3U);
}

// What it is for: seeds 1 and 2 would have all but one of these in common.
TEST(StudySeed, GivesPermutationsOfItsOwn) {
  constexpr std::uint64_t samples = 50;
  constexpr std::uint64_t epochs = 20;
  std::set<std::vector<std::uint64_t>> orders;
  for (const auto seed : spaced_seeds(names(4))) {
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
      std::vector<std::uint64_t> order(samples);
      data::EpochOrder(data::OrderKind::torch, samples, seed, epoch).read(0, order);
      orders.insert(order);
    }
  }
  EXPECT_EQ(orders.size(), 4 * epochs);
}

}  // namespace
}  // namespace rubato::app
