#include "runtime/job_progress.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rubato::runtime {
namespace {

void loop(JobProgress& progress, bool was_done) {
  EXPECT_EQ(progress.enter_loop(), was_done);
  EXPECT_EQ(progress.level(), Level::loop);
  progress.leave_loop();
}

TEST(JobProgress, CountsEpochsAndLoops) {
  JobProgress progress;
  EXPECT_EQ(progress.level(), Level::program);
  loop(progress, false);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    progress.begin_epoch();
    EXPECT_EQ(progress.epoch(), epoch);
    EXPECT_EQ(progress.level(), Level::epoch);
    loop(progress, false);
    loop(progress, false);
    EXPECT_EQ(progress.done(), (JobProgress::Done{epoch, 2, 1}));
    progress.end_epoch();
    EXPECT_FALSE(progress.epoch());
  }
  EXPECT_EQ(progress.done(), (JobProgress::Done{3, 0, 1}));
}

// Two loops of epoch 4 were finished, and one before the epochs.
TEST(JobProgress, SkipsLoopsThatWereFinished) {
  JobProgress progress(JobProgress::Done{4, 2, 1});
  loop(progress, true);
  progress.begin_epoch();
  EXPECT_EQ(progress.epoch(), 4U);
  loop(progress, true);
  EXPECT_EQ(progress.done(), (JobProgress::Done{4, 2, 1}));  // still
  loop(progress, true);
  loop(progress, false);
  EXPECT_EQ(progress.done(), (JobProgress::Done{4, 3, 1}));
  progress.end_epoch();
  progress.begin_epoch();
  loop(progress, false);
  progress.end_epoch();
  loop(progress, false);
  EXPECT_EQ(progress.done(), (JobProgress::Done{6, 0, 2}));
}

TEST(JobProgress, RefusesToNest) {
  JobProgress progress;
  progress.enter_loop();
  EXPECT_THROW(progress.enter_loop(), std::logic_error);
  EXPECT_THROW(progress.begin_epoch(), std::logic_error);
  progress.leave_loop();
  progress.begin_epoch();
  EXPECT_THROW(progress.begin_epoch(), std::logic_error);
  EXPECT_EQ(progress.epoch(), 0U);
}

TEST(JobProgress, MarksEachBeginningAndEndOfAnEpoch) {
  JobProgress progress;
  const std::uint64_t before = epoch_mark();
  progress.begin_epoch();
  const std::uint64_t within = epoch_mark();
  progress.end_epoch();
  EXPECT_NE(before, within);
  EXPECT_NE(within, epoch_mark());
  EXPECT_NE(before, epoch_mark());
}

}  // namespace
}  // namespace rubato::runtime
