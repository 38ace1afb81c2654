// Both assignments against the reference's formula, over a grid of ranks and minibatches.
#include "data/substep_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(SubstepPlan, EveryMinibatchOnceAndCountsAsTheReference) {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::size_t minibatches = 0; minibatches <= 40; ++minibatches) {
      for (const Assignment kind : {Assignment::blocked, Assignment::strided}) {
        std::vector<int> seen(minibatches, 0);
        std::size_t next_of_blocks = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          const auto mine = substeps_of(kind, rank, ranks, minibatches);
          const std::size_t count =
              minibatches > rank ? (minibatches - rank + ranks - 1) / ranks : 0;
          ASSERT_EQ(mine.size(), count);
          for (std::size_t k = 0; k < mine.size(); ++k) {
            ASSERT_LT(mine[k], minibatches);
            ++seen[mine[k]];
            ASSERT_EQ(mine[k], kind == Assignment::strided ? rank + k * ranks : next_of_blocks++);
          }
        }
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST(SubstepPlan, NamesAndRefusals) {
  for (const Assignment kind : {Assignment::blocked, Assignment::strided}) {
    EXPECT_EQ(assignment(to_string(kind)), kind);
  }
  EXPECT_EQ(thrown_message<std::invalid_argument>([] { assignment("blokced"); }),
            "assignment: found \"blokced\", expected blocked or strided");
  EXPECT_EQ(
      thrown_message<std::invalid_argument>([] { substeps_of(Assignment::blocked, 3, 3, 5); }),
      "substeps_of: found rank 3 of 3 ranks, expected a rank below that");
}

}  // namespace
}  // namespace rubato::data
