// What each rank sees of a loop's batches, and what leaving it early does.
#include "runtime/loader_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

class LoaderLoopTest : public SmallJobTest {
 protected:
  // How often the ranks together have had each sample.
  std::vector<std::int64_t> uses_of(const collectives::Communicator& ranks,
                                    std::vector<std::int64_t> mine) const {
    ranks.sum(mine);
    return mine;
  }
};

TEST_F(LoaderLoopTest, RanksShareEveryBatch) {
  for (const bool prefetches : {true, false}) {
    Job job(world, {});
    AdaptiveDataLoader loader(
        std::make_shared<CountedSamples>(50),
        {.batch_size = 12, .minibatch = 5, .shuffle = true, .prefetch = prefetches});
    std::vector<std::int64_t> uses(50, 0);
    std::vector<std::uint64_t> sizes;
    std::vector<std::int64_t> shares;
    for (auto& batch : loader) {
      sizes.push_back(batch.size());
      shares.push_back(0);
      for (const data::LoadedMinibatch& minibatch : batch) {
        EXPECT_LE(minibatch.samples.size(), 5U);
        for (std::size_t i = 0; i < minibatch.samples.size(); ++i) {
          EXPECT_EQ(minibatch.inputs[i], static_cast<float>(minibatch.samples[i]));
          ++uses[minibatch.samples[i]];
          ++shares.back();
        }
      }
    }
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{12, 12, 12, 12, 2}));
    EXPECT_EQ(uses_of(world, uses), std::vector<std::int64_t>(50, 1));
    world.sum(shares);
    EXPECT_EQ(shares, (std::vector<std::int64_t>{12, 12, 12, 12, 2}));
  }
}

TEST_F(LoaderLoopTest, DropsTheLastBatchAndKeepsTheOrderOfTheDataSet) {
  Job job(world, {});
  AdaptiveDataLoader loader(std::make_shared<CountedSamples>(50),
                            {.batch_size = 12, .minibatch = 12, .drop_last = true});
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<std::int64_t> uses(50, 0);
    std::uint64_t batches = 0;
    for (auto& batch : loader) {
      for (const data::LoadedMinibatch& minibatch : batch) {
        EXPECT_EQ(minibatch.samples.front(), 12 * batches);
        for (const std::uint64_t sample : minibatch.samples) ++uses[sample];
      }
      ++batches;
    }
    EXPECT_EQ(batches, 4U);
    std::vector<std::int64_t> expected(50, 1);
    expected[48] = expected[49] = 0;
    EXPECT_EQ(uses_of(world, uses), expected);
  }
}

// A total batch of exactly 10 on every number of ranks: 2 batches on one, 5 on up to four, the rest
// on up to two; each sample once.
TEST_F(LoaderLoopTest, GoesOnOnOtherRanksWithoutLosingOrRepeatingASample) {
  const std::size_t many = std::min<std::size_t>(4, world.size());
  const std::size_t few = std::min<std::size_t>(2, world.size());
  std::vector<std::int64_t> uses(100, 0);
  std::vector<std::uint64_t> batches;
  const auto some_batches = [&](std::uint64_t stop_after) {
    return [&, stop_after](Job& job) {
      AdaptiveDataLoader loader(std::make_shared<CountedSamples>(100),
                                {.batch_size = 10, .minibatch = 3, .shuffle = true});
      std::uint64_t done = 0;
      for (auto& batch : loader) {
        EXPECT_EQ(batch.size(), 10U);
        for (const data::LoadedMinibatch& minibatch : batch) {
          for (const std::uint64_t sample : minibatch.samples) ++uses[sample];
        }
        if (++done == stop_after) job.stop();
      }
      EXPECT_EQ(done, 3U);  // not come to where it was stopped
    };
  };
  EXPECT_EQ(run_on(1, in_directory(), some_batches(2)).empty(), world.rank() > 0);
  EXPECT_EQ(run_on(many, in_directory(), some_batches(5)).empty(), world.rank() >= many);
  EXPECT_EQ(run_on(few, in_directory(), some_batches(99)), "");
  EXPECT_EQ(uses_of(world, uses), std::vector<std::int64_t>(100, 1));
}

TEST_F(LoaderLoopTest, LeftEarlyTheNextLoopIsANewPass) {
  Job job(world, {});
  AdaptiveDataLoader loader(std::make_shared<CountedSamples>(50), {.batch_size = 12});
  for (auto& batch : loader) {
    EXPECT_EQ(batch.update().begin.position, 0U);
    break;
  }
  try {
    for (auto& batch : loader) {
      EXPECT_EQ(batch.update().begin.epoch, 1U);
      throw std::runtime_error("on the way");
    }
  } catch (const std::runtime_error&) {
  }
  std::uint64_t batches = 0;
  for (auto& batch : loader) {
    EXPECT_EQ(batch.update().begin.epoch, 2U);
    EXPECT_EQ(batch.update().begin.position, 12 * batches++);
  }
  EXPECT_EQ(batches, 5U);
}

TEST_F(LoaderLoopTest, LoopsDoNotNest) {
  Job job(world, {});
  AdaptiveDataLoader one(std::make_shared<CountedSamples>(10), {.batch_size = 10});
  AdaptiveDataLoader other(std::make_shared<CountedSamples>(10), {.batch_size = 10});
  for ([[maybe_unused]] auto& batch : one) {
    EXPECT_THROW(other.begin(), std::logic_error);
    EXPECT_THROW(remaining_epochs_until(1).begin(), std::logic_error);
  }
  for ([[maybe_unused]] auto& batch : other) EXPECT_TRUE(job.progress().is_in_loop());
}

TEST_F(LoaderLoopTest, MinibatchesAreOfABatchAndOfTheDataSet) {
  Job job(world, {});
  AdaptiveDataLoader small(std::make_shared<CountedSamples>(100), {.batch_size = 10});
  AdaptiveDataLoader usual(std::make_shared<CountedSamples>(100), {.batch_size = 64});
  AdaptiveDataLoader large(std::make_shared<CountedSamples>(20), {.batch_size = 50});
  EXPECT_EQ(small.get_local_bsz(), 10U);
  EXPECT_EQ(usual.get_local_bsz(), 32U);
  EXPECT_EQ(large.get_local_bsz(), 20U);
  for (auto& batch : large) EXPECT_EQ(batch.size(), 20U);
}

}  // namespace
}  // namespace rubato::runtime
