// The longest share against handing out one minibatch after the other.
#include "optim/longest_share.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "performance_examples.hpp"

namespace rubato::optim {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

double one_after_the_other(const Allocation& allocation, std::uint64_t minibatches) {
  std::vector<double> done(allocation.ranks, 0.0);
  for (std::uint64_t i = 0; i < minibatches; ++i) {
    std::size_t next = i % allocation.ranks;
    for (std::size_t rank = 0; rank < allocation.ranks && allocation.shared_by_speed; ++rank) {
      if (done[rank] + allocation.slowness[rank] < done[next] + allocation.slowness[next]) {
        next = rank;
      }
    }
    done[next] += allocation.slowness[next];
  }
  return std::ranges::max(done);
}

TEST(LongestShare, IsThatOfHandingOutOneAfterTheOther) {
  PerformanceExamples examples(2);
  for (int i = 0; i < 5000; ++i) {
    Allocation allocation;
    allocation.ranks = examples.whole(1, 9);
    allocation.shared_by_speed = examples.coin();
    for (std::size_t rank = 0; rank < allocation.ranks; ++rank) {
      allocation.slowness.push_back(examples.between(0.2, 5));
    }
    const std::uint64_t minibatches = examples.whole(1, 60);
    const double expected = one_after_the_other(allocation, minibatches);
    ASSERT_NEAR(longest_share(allocation, minibatches), expected, 1e-9 * expected) << i;
  }
}

TEST(LongestShare, AlikeRanksCountSubsteps) {
  for (const bool by_speed : {false, true}) {
    EXPECT_EQ(longest_share({1, 4, {}, by_speed}, 3), 1);
    EXPECT_EQ(longest_share({1, 4, {}, by_speed}, 4), 1);
    EXPECT_EQ(longest_share({1, 4, {}, by_speed}, 5), 2);
    EXPECT_EQ(longest_share({1, 3, {1, 1, 1}, by_speed}, 7), 3);
  }
}

TEST(LongestShare, SpeedSparesTheSlow) {
  const Allocation even{1, 2, {1, 3}, false}, by_speed{1, 2, {1, 3}, true};
  EXPECT_EQ(longest_share(even, 8), 12);
  EXPECT_EQ(longest_share(by_speed, 8), 6);
}

TEST(LongestShare, AllocationsThatMakeNoSenseAreRefused) {
  EXPECT_THAT(
      [] {
        check({0, 1, {}, false});
      },
      ThrowsMessage<std::invalid_argument>(
          "found 0 hosts and 1 ranks; expected a host or more, and a rank on each"));
  EXPECT_THROW(check({3, 2, {}, false}), std::invalid_argument);
  EXPECT_THAT(
      [] {
        check({1, 2, {1}, false});
      },
      ThrowsMessage<std::invalid_argument>("slowness of 1 ranks; expected that of 2"));
  EXPECT_THAT(
      [] {
        check({1, 2, {1, 0}, false});
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("slowness of a rank is 0; expected 0.001 to 1000")));
  EXPECT_THROW(check({1, 2, {1, 1001}, false}), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
