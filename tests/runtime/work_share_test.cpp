// Every minibatch has one rank, whatever the assignment and whatever was learned, and all know how
// many the rank with the most of them has.
#include "runtime/work_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace rubato::runtime {
namespace {

constexpr std::uint64_t size = 10;  // of a minibatch
using Slots = std::vector<std::size_t>;

// The last one is short.
data::PlannedUpdate update_of(std::size_t minibatches, std::uint64_t whole = 10) {
  data::PlannedUpdate update;
  update.minibatch = whole;
  update.minibatches.resize(minibatches);
  for (data::Minibatch& minibatch : update.minibatches) minibatch.size = whole;
  update.minibatches.back().size = 1;
  return update;
}

std::vector<WorkShare> shares_of(data::Assignment assignment, std::size_t ranks) {
  std::vector<WorkShare> shares;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    shares.emplace_back(assignment, rank, ranks);
  }
  return shares;
}

TEST(WorkShare, FixedAssignmentsIgnoreSpeeds) {
  for (const auto assignment : {data::Assignment::blocked, data::Assignment::strided}) {
    auto shares = shares_of(assignment, 2);
    const std::vector<RankTime> times{{1, 1, 1}, {9, 9, 1}};
    for (int i = 0; i < 5; ++i) shares[1].learn(times, size);
    EXPECT_EQ(shares[1].of(update_of(5)).slots, data::substeps_of(assignment, 1, 2, 5));
  }
}

TEST(WorkShare, BalancedBeginsAsBlockedAndFollowsTheSpeeds) {
  auto shares = shares_of(data::Assignment::balanced, 2);
  EXPECT_EQ(shares[0].of(update_of(7)).slots, (Slots{0, 1, 2, 3}));
  EXPECT_EQ(shares[1].of(update_of(7)).slots, (Slots{4, 5, 6}));
  const std::vector<RankTime> times{{4, 4, 4}, {6, 6, 3}};  // the second takes twice as long
  for (int i = 0; i < 3; ++i) {
    for (WorkShare& share : shares) share.learn(times, size);
  }
  EXPECT_EQ(shares[0].of(update_of(7)).slots, (Slots{0, 1, 2, 3, 6}));  // 4.1 s and 4 s
  EXPECT_EQ(shares[1].of(update_of(7)).slots, (Slots{4, 5}));
  EXPECT_EQ(shares[0].of(update_of(10)).slots, (Slots{0, 1, 2, 3, 4, 5, 9}));  // 6.1 s and 6 s
}

// Twice the samples in twice the time: the ranks are as fast as they were.
TEST(WorkShare, SpeedsAreOfSamplesNotOfMinibatches) {
  WorkShare share(data::Assignment::balanced, 0, 2);
  const std::vector<RankTime> before{{4, 4, 4}, {6, 6, 3}};
  for (int i = 0; i < 5; ++i) share.learn(before, size);
  const Slots mine = share.of(update_of(7)).slots;
  const std::vector<RankTime> only_the_slow_one{{0, 0, 0}, {8, 8, 2}};
  for (int i = 0; i < 5; ++i) share.learn(only_the_slow_one, 2 * size);
  EXPECT_EQ(share.of(update_of(7, 2 * size)).slots, mine);
}

TEST(WorkShare, EveryMinibatchHasOneRank) {
  for (const auto assignment :
       {data::Assignment::blocked, data::Assignment::strided, data::Assignment::balanced}) {
    for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
      auto shares = shares_of(assignment, ranks);
      for (std::size_t update = 0; update < 60; ++update) {
        const std::size_t minibatches = 1 + update * 7 % 13;
        std::vector<int> times_run(minibatches, 0);
        std::vector<RankTime> times;
        std::set<std::size_t> most_told;
        std::set<std::vector<std::size_t>> owners_told;
        std::size_t most = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          const auto [mine, most_of_all, owners] =
              shares[rank].of(update_of(minibatches), WorkShare::Owners::told);
          most_told.insert(most_of_all);
          owners_told.insert(owners);
          most = std::max(most, mine.size());
          for (const std::size_t slot : mine) {
            ++times_run.at(slot);
            EXPECT_EQ(owners.at(slot), rank);
          }
          const auto count = static_cast<double>(mine.size());
          const double seconds = count * static_cast<double>(1 + (rank + update / 20) % 3);
          times.push_back({seconds, seconds, count});
        }
        EXPECT_EQ(times_run, std::vector<int>(minibatches, 1));
        EXPECT_EQ(owners_told.size(), 1U);
        EXPECT_EQ(most_told, std::set{most}) << ranks << " ranks, " << minibatches;
        for (WorkShare& share : shares) share.learn(times, size);
      }
    }
  }
}

}  // namespace
}  // namespace rubato::runtime
