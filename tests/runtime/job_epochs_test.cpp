#include "runtime/job_epochs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Epochs = std::vector<std::uint64_t>;

class JobEpochsTest : public SmallJobTest {};

TEST_F(JobEpochsTest, LoopsThatFollowEachOtherGoOnCounting) {
  Job job(world, {});
  Epochs seen;
  for (const auto epoch : remaining_epochs_until(2)) seen.push_back(epoch);
  EXPECT_FALSE(job.epoch());
  for (const auto epoch : remaining_epochs_until(2)) seen.push_back(epoch);
  for (const auto epoch : remaining_epochs_until(4)) seen.push_back(epoch);
  EXPECT_EQ(seen, (Epochs{0, 1, 2, 3}));
}

TEST_F(JobEpochsTest, BreakAndExceptionsFinishTheEpoch) {
  Job job(world, {});
  for ([[maybe_unused]] const auto epoch : remaining_epochs_until(9)) break;
  EXPECT_FALSE(job.epoch());
  try {
    for (const auto epoch : remaining_epochs_until(9)) {
      EXPECT_EQ(epoch, 1U);
      throw std::runtime_error("on the way");
    }
  } catch (const std::runtime_error&) {
  }
  for (const auto epoch : remaining_epochs_until(9)) {
    EXPECT_EQ(epoch, 2U);
    break;
  }
}

TEST_F(JobEpochsTest, DoNotNest) {
  Job job(world, {});
  for (const auto epoch : remaining_epochs_until(1)) {
    for (const std::uint64_t until : {0U, 5U}) {
      EXPECT_THAT([&] { remaining_epochs_until(until).begin(); },
                  ThrowsMessage<std::logic_error>(HasSubstr("epoch 0 is under way")));
    }
    EXPECT_EQ(job.epoch(), epoch);
  }
}

// Those finished are not given out again, whichever loop had them.
TEST_F(JobEpochsTest, AJobGoesOnWhereItWas) {
  const auto program = [](Epochs& seen, std::uint64_t stop_in) {
    return [&, stop_in](Job& job) {
      for (const std::uint64_t until : {3U, 6U}) {
        for (const auto epoch : remaining_epochs_until(until)) {
          seen.push_back(epoch);
          if (epoch == stop_in) job.stop();
        }
      }
    };
  };
  Epochs first;
  Epochs second;
  Epochs third;
  EXPECT_NE(run_on(world.size(), in_directory(), program(first, 4)), "");
  EXPECT_EQ(run_on(world.size(), in_directory(), program(second, 99)), "");
  EXPECT_EQ(run_on(world.size(), in_directory(), program(third, 99)), "");
  EXPECT_EQ(first, (Epochs{0, 1, 2, 3, 4}));
  EXPECT_EQ(second, (Epochs{4, 5}));
  EXPECT_EQ(third, Epochs());
}

}  // namespace
}  // namespace rubato::runtime
