#include "app/rank_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rubato::app {
namespace {

using testing::HasSubstr;

std::vector<RankFacts> ranks_on(const std::vector<std::string>& hosts) {
  std::vector<RankFacts> ranks;
  for (const auto& host : hosts) {
    ranks.push_back({.rank = ranks.size(),
                     .host = host,
                     .cores = {0, 1, 2, 3},
                     .online_cores = 4,
                     .shared_directory = "/dev/shm",
                     .shared_bytes = 1U << 30U,
                     .shared_free_bytes = 1U << 30U,
                     .kernels = "oneDNN 2.6.3, avx2",
                     .hdf5 = "1.10.8",
                     .mpi = "Open MPI v4.1.4"});
  }
  return ranks;
}

TEST(JudgePlacement, FindsNothingWhereAllIsWell) {
  EXPECT_TRUE(judge_placement(ranks_on({"a", "a", "a", "a", "b"})).empty());
}

TEST(JudgePlacement, NotesMoreRanksThanCoresOnTheirHost) {
  const auto findings = judge_placement(ranks_on({"a", "b", "b", "b", "b", "b"}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].problem, "5 ranks on b share 4 cores");
  EXPECT_FALSE(findings[0].is_broken);
}

TEST(JudgePlacement, NotesRanksBoundToTheSameCore) {
  auto ranks = ranks_on({"a", "a", "a"});
  ranks[0].cores = ranks[2].cores = {1};
  ranks[1].cores = {3};
  const auto findings = judge_placement(ranks);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].problem, "3 ranks on a are bound to 2 of 4 cores");
  EXPECT_THAT(findings[0].remedy, HasSubstr("--bind-to none"));
}

TEST(JudgePlacement, NotesLittleSharedMemoryWhereRanksShare) {
  auto ranks = ranks_on({"a", "b", "b"});
  for (auto& facts : ranks) facts.shared_free_bytes = std::uint64_t{10} << 20U;
  const auto findings = judge_placement(ranks);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].problem, "/dev/shm on b has only 10 MiB free");
  EXPECT_THAT(findings[0].remedy, HasSubstr("RUBATO_SHARED_MEMORY"));
}

TEST(JudgePlacement, CallsDifferentKernelsAndLibrariesBroken) {
  for (const auto fact : {&RankFacts::kernels, &RankFacts::mpi, &RankFacts::hdf5}) {
    auto ranks = ranks_on({"a", "b"});
    ranks[1].*fact = "another";
    const auto findings = judge_placement(ranks);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_TRUE(findings[0].is_broken);
    EXPECT_THAT(findings[0].problem, HasSubstr("another on b"));
  }
}

}  // namespace
}  // namespace rubato::app
