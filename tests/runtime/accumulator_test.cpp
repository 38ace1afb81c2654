#include "runtime/accumulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class AccumulatorTest : public SmallJobTest {};

TEST_F(AccumulatorTest, SumsOverRanksAndShowsThemWhileSynchronized) {
  Job job(world, {});
  Accumulator stats;
  const auto rank = static_cast<double>(world.rank());
  const auto ranks = static_cast<double>(world.size());
  stats["a"] += rank;
  stats["a"] -= 1;
  stats.update({{"b", 2}, {"c", 1}});
  stats.subtract({{"b", 1}});
  EXPECT_EQ(stats.size(), 0U);
  EXPECT_FALSE(stats.contains("b"));
  if (auto all = stats.synchronized()) {
    EXPECT_EQ(all["a"], ranks * (ranks - 1) / 2 - ranks);
    EXPECT_EQ(stats["b"], ranks);
    EXPECT_EQ(stats.size(), 3U);
    EXPECT_TRUE(stats.contains("c"));
    EXPECT_THROW(static_cast<void>(static_cast<double>(all["d"])), std::out_of_range);
    { const auto nested = stats.synchronized(); }
    EXPECT_EQ(all["c"], ranks);  // the inner one has ended nothing
  }
  EXPECT_EQ(stats.size(), 0U);
}

TEST_F(AccumulatorTest, OutsideOfSynchronizedThereIsNothingToReadOrToSet) {
  Job job(world, {});
  Accumulator stats;
  stats["a"] += 1;
  EXPECT_THAT([&] { return static_cast<double>(stats["a"]); },
              ThrowsMessage<std::logic_error>(HasSubstr("cannot read \"a\" outside of synchron")));
  EXPECT_THAT([&] { stats["a"] = 2; },
              ThrowsMessage<std::logic_error>(HasSubstr("cannot set \"a\" outside of synchron")));
  EXPECT_THROW(stats.clear(), std::logic_error);
  EXPECT_THROW(stats.erase("a"), std::logic_error);
}

TEST_F(AccumulatorTest, IsATableWhileSynchronized) {
  Job job(world, {});
  Accumulator stats;
  stats.update({{"a", 1}, {"b", 1}, {"c", 1}});
  if (auto all = stats.synchronized()) {
    all["a"] = 10;
    all["b"] += 0.5;
    stats.erase("c");
    EXPECT_EQ(all["a"], 10);
  }
  stats["a"] += 1;
  const auto ranks = static_cast<double>(world.size());
  if (auto all = stats.synchronized()) {
    EXPECT_EQ(all["a"], 10 + ranks);
    EXPECT_EQ(all["b"], ranks + 0.5);
    EXPECT_EQ(stats.size(), 2U);
    stats.clear();
    EXPECT_EQ(stats.size(), 0U);
  }
  if (auto all = stats.synchronized()) {
    EXPECT_EQ(stats.size(), 0U);
  }
}

TEST_F(AccumulatorTest, ExactSumsDoNotShowWhoAddedWhat) {
  std::vector<double> found;
  for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
    run_on(ranks, {}, [&](Job& job) {
      Accumulator stats;
      for (std::size_t i = job.communicator().rank(); i < 100; i += ranks) {
        stats["x"] += ExactSum(1.0 / static_cast<double>(i + 1));
      }
      if (auto all = stats.synchronized()) found.push_back(all["x"]);
    });
  }
  for (const double one : found) EXPECT_EQ(one, found[0]);
}

// One rank adds 15, then -5; on up to four, each adds its rank; on up to two, each subtracts 5.
// With four and two: 16, -4 and -10.
TEST_F(AccumulatorTest, GoesOnOnOtherRanks) {
  const std::size_t many = std::min<std::size_t>(4, world.size());
  const std::size_t few = std::min<std::size_t>(2, world.size());
  const auto sum_of_ranks = static_cast<double>(many * (many - 1) / 2);
  const double five_each = 5.0 * static_cast<double>(few);
  run_on(1, in_directory(), [](Job& job) {
    Accumulator stats;
    stats["a"] += 15;
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(all["a"], 15);
    }
    EXPECT_EQ(stats.size(), 0U);
    stats["a"] -= 5;
    job.checkpoint();
  });
  run_on(many, in_directory(), [&](Job& job) {
    EXPECT_EQ(job.restarts(), 1U);
    const auto rank = static_cast<double>(job.communicator().rank());
    Accumulator stats;
    stats["a"] += 15;  // again, and discarded
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(all["a"], 15);
    }
    stats.update({{"a", rank}, {"b", rank}});
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(stats.size(), 2U);
      EXPECT_EQ(all["a"], 10 + sum_of_ranks);
      EXPECT_EQ(all["b"], sum_of_ranks);
    }
    job.checkpoint();
  });
  run_on(few, in_directory(), [&](Job& job) {
    EXPECT_EQ(job.restarts(), 2U);
    Accumulator stats;
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(all["a"], 15);
    }
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(all["a"], 10 + sum_of_ranks);
    }
    stats.subtract({{"b", 5}, {"c", 5}});
    if (auto all = stats.synchronized()) {
      EXPECT_EQ(stats.size(), 3U);
      EXPECT_EQ(all["a"], 10 + sum_of_ranks);
      EXPECT_EQ(all["b"], sum_of_ranks - five_each);
      EXPECT_EQ(all["c"], -five_each);
    }
  });
}

TEST_F(AccumulatorTest, IsNotMadeInALoop) {
  Job job(world, {});
  AdaptiveDataLoader loader(std::make_shared<CountedSamples>(10), {.batch_size = 5});
  for (auto& batch : loader) {
    EXPECT_EQ(batch.size(), 5U);
    EXPECT_THROW(Accumulator(), std::logic_error);
  }
}

}  // namespace
}  // namespace rubato::runtime
