// Writing beside the caller: what is submitted arrives, in order, and failures are told, not
// thrown.
#include "runtime/checkpoint_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "runtime/errors.hpp"
#include "tests/runtime/example_state.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class CheckpointWriterTest : public testing::Test {
 protected:
  Checkpoint checkpoint_at(std::uint64_t update) const {
    Checkpoint checkpoint{example_state(), {{"data", "digits"}}, {}};
    checkpoint.state.cursor.update = update;
    return checkpoint;
  }
  std::uint64_t newest_update() const {
    const Found found = newest_good_checkpoint(run.path());
    return found.newest ? found.newest->stored.update : 999;
  }

  TemporaryDirectory run;
  CheckpointStore store{run.path(), /*keep=*/3};
};

TEST_F(CheckpointWriterTest, WhatIsSubmittedIsOnDiskWhenFinished) {
  CheckpointWriter writer(store);
  writer.submit(checkpoint_at(1));
  writer.finish();
  const Found found = newest_good_checkpoint(run.path());
  ASSERT_TRUE(found.newest);
  EXPECT_EQ(state_digest(found.newest->checkpoint.state), state_digest(checkpoint_at(1).state));
  EXPECT_EQ(found.newest->checkpoint.identity.at(0).value, "digits");
}

TEST_F(CheckpointWriterTest, TheDestructorFinishes) {
  { CheckpointWriter(store).submit(checkpoint_at(2)); }
  EXPECT_EQ(newest_update(), 2U);
  { const CheckpointWriter idle(store); }
}

TEST_F(CheckpointWriterTest, TheBufferComesBackWithItsMemory) {
  CheckpointWriter writer(store);
  Checkpoint buffer = writer.take_buffer();
  EXPECT_TRUE(buffer.state.model.empty());
  buffer = checkpoint_at(1);
  const float* values = buffer.state.model.at(0).values.data();
  writer.submit(std::move(buffer));
  buffer = writer.take_buffer();
  EXPECT_EQ(buffer.state.model.at(0).values.data(), values);
  EXPECT_EQ(newest_update(), 1U);  // taking it has waited for the write
}

TEST_F(CheckpointWriterTest, SubmittingDoesNotWaitForTheWriteAndTheNextOneDoes) {
  std::promise<void> may_go_on;
  std::atomic<int> calls = 0;
  CheckpointWriter writer(store, [&, gate = may_go_on.get_future().share()] {
    ++calls;
    gate.wait();
  });
  writer.submit(checkpoint_at(1));
  EXPECT_EQ(newest_update(), 999U);  // still held before it takes its name
  std::atomic<bool> is_submitted = false;
  std::thread second([&] {
    writer.submit(checkpoint_at(2));
    is_submitted = true;
  });
  EXPECT_FALSE(is_submitted);
  may_go_on.set_value();
  second.join();
  writer.finish();
  EXPECT_EQ(newest_update(), 2U);
  EXPECT_EQ(calls, 2);
}

TEST_F(CheckpointWriterTest, AFailureIsToldOnceAndTheNextWriteSucceeds) {
  bool should_fail = true;
  CheckpointWriter writer(store, [&] {
    if (should_fail) throw WriteError("the metrics cannot be flushed");
  });
  writer.submit(checkpoint_at(1));
  writer.finish();
  EXPECT_EQ(writer.take_failure(), "the metrics cannot be flushed");
  EXPECT_EQ(writer.take_failure(), std::nullopt);
  EXPECT_FALSE(writer.last_timing());
  should_fail = false;
  writer.submit(checkpoint_at(2));
  writer.finish();
  EXPECT_EQ(writer.take_failure(), std::nullopt);
  EXPECT_EQ(newest_update(), 2U);
}

TEST_F(CheckpointWriterTest, WhateverIsThrownStaysOnItsThread) {
  CheckpointWriter writer(store, [] { throw 7; });
  writer.submit(checkpoint_at(1));
  writer.finish();
  EXPECT_THAT(writer.take_failure().value_or(""), HasSubstr("cannot write a checkpoint"));
}

TEST_F(CheckpointWriterTest, TheTimingIsOfTheLastWrite) {
  CheckpointWriter writer(store);
  EXPECT_FALSE(writer.last_timing());
  writer.submit(checkpoint_at(6));
  writer.finish();
  const auto timing = writer.last_timing();
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->update, 6U);
  EXPECT_EQ(timing->bytes, encode_checkpoint(checkpoint_at(6)).size());
  EXPECT_GT(timing->encode_seconds, 0);
  EXPECT_GT(timing->write_seconds, 0);
}

// So that signals reach the threads that expect them, and interrupt no write.
TEST_F(CheckpointWriterTest, ItsThreadTakesNoSignalsAndTheCallersDoesAsBefore) {
  const auto is_blocked = [](int signal) {
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return ::sigismember(&blocked, signal) == 1;
  };
  bool is_blocked_on_the_thread = false;
  CheckpointWriter writer(store, [&] {
    is_blocked_on_the_thread = is_blocked(SIGTERM) && is_blocked(SIGUSR1) && is_blocked(SIGXFSZ);
  });
  writer.submit(checkpoint_at(1));
  writer.finish();
  EXPECT_TRUE(is_blocked_on_the_thread);
  EXPECT_FALSE(is_blocked(SIGTERM));
}

}  // namespace
}  // namespace rubato::runtime
