// The growth of times that follow a known law, another one on each rank.
#include "runtime/minibatch_trial.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::runtime {
namespace {

class MinibatchTrialTest : public testing::Test {
 protected:
  // Takes so long on rank r: 10 ms and r + 1 units of 1 us a sample.
  double seconds_of(std::uint64_t samples) {
    tried.push_back(samples);
    return 1e-2 + 1e-6 * static_cast<double>(world.rank() + 1) * static_cast<double>(samples);
  }

  collectives::Communicator world = collectives::Communicator::world();
  double mean = (static_cast<double>(world.size()) + 1) / 2;  // of the ranks' units
  std::vector<std::uint64_t> tried;
};

TEST_F(MinibatchTrialTest, IsTheMeanOverTheRanks) {
  const double found = seconds_per_sample(
      world, 8, 32, [this](std::uint64_t samples) { return seconds_of(samples); });
  EXPECT_NEAR(found, 1e-6 * mean, 1e-12);
  EXPECT_EQ(tried, (std::vector<std::uint64_t>{8, 32, 8, 32, 8, 32, 8, 32, 8, 32, 8, 32}));
}

// The first ones of their size, and one that was held up.
TEST_F(MinibatchTrialTest, HiccupsDoNotCount) {
  const double found = seconds_per_sample(world, 8, 32, [this](std::uint64_t samples) {
    const double seconds = seconds_of(samples);
    return tried.size() <= 2 ? 5 : tried.size() == 4 ? seconds + 0.2 : seconds;
  });
  EXPECT_NEAR(found, 1e-6 * mean, 1e-12);
}

TEST_F(MinibatchTrialTest, LongOnesAreTriedOnce) {
  const double found = seconds_per_sample(
      world, 8, 32, [this](std::uint64_t samples) { return 1e3 * seconds_of(samples); });
  EXPECT_NEAR(found, 1e-3 * mean, 1e-9);
  EXPECT_EQ(tried.size(), 4U);
}

// By chance, where a minibatch takes no time worth speaking of.
TEST_F(MinibatchTrialTest, NoGrowthIsNegative) {
  EXPECT_EQ(seconds_per_sample(world, 8, 32,
                               [](std::uint64_t samples) { return samples > 8 ? 0.1 : 0.2; }),
            0);
}

}  // namespace
}  // namespace rubato::runtime
