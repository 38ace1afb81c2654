#include "app/prove_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Words = std::vector<std::string>;

ProvePlan plan(const Words& own, const Words& more = {}) {
  Words train{"--data", "digits", "--batch-size", "8", "--updates", "9"};
  train.insert(train.end(), more.begin(), more.end());
  return prove_plan(prove_table().parse(own), train);
}

TEST(ProveOptions, HaveDefaults) {
  const auto made = plan({});
  EXPECT_EQ(made.kills, 10U);
  EXPECT_THAT(made.launcher, ElementsAre("mpirun"));
  EXPECT_GE(made.ranks.size(), 2U);
  EXPECT_EQ(made.ranks[0], 1U);
  EXPECT_EQ(made.ranks.back(), made.ranks.size());
  EXPECT_EQ(made.straight_ranks, 1U);
  EXPECT_FALSE(made.checkpoint_every);
  EXPECT_FALSE(made.kept_directory);
  EXPECT_FALSE(made.wants_json);
}

TEST(ProveOptions, RefuseATrainingThatIsNeverTheSameTwice) {
  EXPECT_THAT(
      [] {
        prove_plan(prove_table().parse(Words()), {"--data", "digits", "--adaptive", "max=99"});
      },
      ThrowsMessage<UsageError>(
          HasSubstr("no two runs are the same; what repeats one is: --replay")));
}

TEST(ProveOptions, AreTaken) {
  const auto made = plan({"--kills", "3", "--seed", "0", "--ranks", "5,2", "--checkpoint-every",
                          "4", "--mpirun", "mpirun -H a", "--keep-runs", "d", "--format", "json"});
  EXPECT_EQ(made.kills, 3U);
  EXPECT_EQ(made.seed, 0U);
  EXPECT_THAT(made.ranks, ElementsAre(5, 2));
  EXPECT_EQ(made.straight_ranks, 5U) << "the first";
  EXPECT_EQ(made.checkpoint_every, 4U);
  EXPECT_THAT(made.launcher, ElementsAre("mpirun", "-H", "a"));
  EXPECT_EQ(made.kept_directory, "d");
  EXPECT_TRUE(made.wants_json);
  EXPECT_EQ(made.train.size(), 6U);
  EXPECT_EQ(plan({"--ranks", "5,2", "--straight-ranks", "3"}).straight_ranks, 3U);
}

TEST(ProveOptions, DifferInTheirSeed) { EXPECT_NE(plan({}).seed, plan({}).seed); }

TEST(ProveOptions, NeedNumbersOfRanks) {
  for (const char* text : {"", "1,", "0", "1,x", "1:3", "-1"}) {
    EXPECT_THAT([&] { parse_rank_list(text); },
                ThrowsMessage<UsageError>(HasSubstr("expected numbers of ranks")))
        << text;
  }
}

TEST(ProveOptions, NameTheOptionThatAsksForTooManyRanks) {
  EXPECT_THAT(
      [] {
        plan({"--ranks", "70000"});
      },
      ThrowsMessage<UsageError>(HasSubstr("--ranks 70000: expected at most")));
  EXPECT_THAT(
      [] {
        plan({"--straight-ranks", "70000"});
      },
      ThrowsMessage<UsageError>(HasSubstr("--straight-ranks 70000: expected at most")));
}

TEST(ProveOptions, LeaveNoneOfTheirOwnToTheTraining) {
  EXPECT_THAT(
      [] {
        plan({}, {"--out", "d"});
      },
      ThrowsMessage<UsageError>("prove: leave --out out of the options of the training:"
                                " prove gives its own"));
  EXPECT_THROW(plan({}, {"--checkpoint-every", "3"}), UsageError);
  EXPECT_THROW(plan({}, {"--stop-after-update", "3"}), UsageError);
  EXPECT_THROW(plan({}, {"--update", "3"}), UsageError) << "what train itself refuses";
  EXPECT_THROW(plan({}, {"--help"}), UsageError);
}

}  // namespace
}  // namespace rubato::app
