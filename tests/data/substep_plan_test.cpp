// The fixed assignments against the reference's formula, over a grid of ranks and minibatches; the
// balanced one against all that there are, and in cases that can be told by hand.
#include "data/substep_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(SubstepPlan, EveryMinibatchOnceAndCountsAsTheReference) {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::size_t minibatches = 0; minibatches <= 40; ++minibatches) {
      for (const Assignment kind : {Assignment::blocked, Assignment::strided}) {
        std::vector<int> seen(minibatches, 0);
        std::size_t next_of_blocks = 0;
        const std::vector<std::size_t> owners = owners_of(kind, ranks, minibatches);
        ASSERT_EQ(owners.size(), minibatches);
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          const auto mine = substeps_of(kind, rank, ranks, minibatches);
          const std::size_t count =
              minibatches > rank ? (minibatches - rank + ranks - 1) / ranks : 0;
          ASSERT_EQ(mine.size(), count);
          for (std::size_t k = 0; k < mine.size(); ++k) {
            ASSERT_LT(mine[k], minibatches);
            ++seen[mine[k]];
            ASSERT_EQ(owners[mine[k]], rank);
            ASSERT_EQ(mine[k], kind == Assignment::strided ? rank + k * ranks : next_of_blocks++);
          }
        }
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST(SubstepPlan, NamesAndRefusals) {
  for (const Assignment kind : {Assignment::blocked, Assignment::strided, Assignment::balanced}) {
    EXPECT_EQ(assignment(to_string(kind)), kind);
  }
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { assignment("blokced"); }),
            "assignment: found \"blokced\", expected blocked, strided or balanced");
  EXPECT_EQ(
      thrown_message<std::invalid_argument>([] { substeps_of(Assignment::blocked, 3, 3, 5); }),
      "substeps_of: found rank 3 of 3 ranks, expected a rank below that");
}

TEST(SubstepPlan, BalancedWithoutSpeedsIsBlocked) {
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(substeps_of(Assignment::balanced, rank, 3, 8),
              substeps_of(Assignment::blocked, rank, 3, 8));
  }
}

using Owners = std::vector<std::size_t>;
using Seconds = std::vector<double>;

Seconds whole(std::size_t minibatches) { return Seconds(minibatches, 1.0); }

Owners owners_of(const Seconds& seconds, const Seconds& work,
                 std::optional<std::size_t> tried = std::nullopt) {
  return balanced_owners(seconds, work, tried);
}

TEST(BalancedOwners, TwiceTheSpeedTwiceTheMinibatches) {
  EXPECT_EQ(owners_of({1, 2}, whole(6)), (Owners{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(owners_of({4, 1, 2}, whole(7)), (Owners{0, 1, 1, 1, 1, 2, 2}));
  EXPECT_EQ(owners_of({2, 1}, whole(4)), (Owners{0, 1, 1, 1}));  // done at 3, the other way at 4
}

TEST(BalancedOwners, EqualRanksShareEvenlyAndTheFirstTakeTheSurplus) {
  EXPECT_EQ(owners_of({0.3, 0.3, 0.3}, whole(8)), (Owners{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(owners_of({0.3, 0.3, 0.3}, whole(2)), (Owners{0, 1}));
}

TEST(BalancedOwners, FewMinibatchesGoToTheFastest) {
  EXPECT_EQ(owners_of({3, 1, 2}, whole(1)), (Owners{1}));
  EXPECT_EQ(owners_of({3, 1, 2.1}, whole(2)), (Owners{1, 1}));
  EXPECT_EQ(owners_of({3, 1, 2.1}, whole(3)), (Owners{1, 1, 2}));
}

TEST(BalancedOwners, AShortMinibatchGoesWhereItIsDoneFirst) {
  EXPECT_EQ(owners_of({1, 1}, {1, 1, 1, 0.25}), (Owners{0, 0, 1, 1}));
  EXPECT_EQ(owners_of({1, 1}, {1, 1, 0.25}), (Owners{0, 1, 0}));
  EXPECT_EQ(owners_of({1, 4}, {1, 0.25, 1}), (Owners{0, 1, 0}));
  EXPECT_EQ(owners_of({2, 1}, {0.5}), (Owners{1}));
}

TEST(BalancedOwners, ATriedRankHasAWholeOneHoweverSlow) {
  EXPECT_EQ(owners_of({1, 100}, whole(3)), (Owners{0, 0, 0}));
  EXPECT_EQ(owners_of({1, 100}, whole(3), 1), (Owners{0, 0, 1}));
  EXPECT_EQ(owners_of({1, 100}, {1, 0.5}, 1), (Owners{1, 0}));
  EXPECT_EQ(owners_of({1, 2}, whole(3), 1), (Owners{0, 0, 1}));  // it has one anyway
  EXPECT_EQ(owners_of({1, 100}, {0.5}, 1), (Owners{0}));         // nothing to measure it by
}

TEST(BalancedOwners, OneRankHasAll) { EXPECT_EQ(owners_of({5}, {1, 1, 0.1}), (Owners{0, 0, 0})); }

// The best finish over all ways to share out so many, rank by rank.
double best_finish(const Seconds& seconds, std::size_t minibatches, std::size_t rank = 0) {
  if (rank + 1 == seconds.size()) return static_cast<double>(minibatches) * seconds[rank];
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t mine = 0; mine <= minibatches; ++mine) {
    best = std::min(best, std::max(static_cast<double>(mine) * seconds[rank],
                                   best_finish(seconds, minibatches - mine, rank + 1)));
  }
  return best;
}

TEST(BalancedOwners, NoOtherWayIsDoneEarlier) {
  for (const Seconds& seconds : {Seconds{1, 1.01}, Seconds{1, 2, 4}, Seconds{0.9, 1.7, 1.1, 3.3},
                                 Seconds{1, 1, 1}, Seconds{10, 0.1, 1}, Seconds{3, 5, 7}}) {
    for (std::size_t minibatches = 1; minibatches <= 18; ++minibatches) {
      const Seconds work = whole(minibatches);
      EXPECT_NEAR(finishing_seconds(owners_of(seconds, work), seconds, work),
                  best_finish(seconds, minibatches), 1e-9)
          << minibatches << " over " << seconds.size();
    }
  }
}

TEST(FinishingSeconds, IsTheLastRanks) {
  EXPECT_DOUBLE_EQ(finishing_seconds(Owners{0, 1, 1}, Seconds{3, 1}, Seconds{1, 1, 0.5}), 3);
  EXPECT_DOUBLE_EQ(finishing_seconds(Owners{1, 1, 0}, Seconds{3, 2}, Seconds{1, 1, 0.5}), 4);
}

}  // namespace
}  // namespace rubato::data
