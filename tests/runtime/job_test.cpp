// Jobs of a few epochs, on any number of ranks, stopped and gone on with on others.
#include "runtime/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

#include "runtime/accumulator.hpp"
#include "runtime/checkpoint_store.hpp"
#include "runtime/state_file.hpp"
#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class JobTest : public SmallJobTest {
 protected:
  // What a program has to say at its end.
  struct Outcome {
    std::string digest;
    std::vector<double> test_losses;
    std::vector<double> accuracies;
    bool operator==(const Outcome&) const = default;
  };

  // The tutorial's program. `after_update` is called in the body of the training loop.
  static Outcome train(Job& job, std::uint64_t epochs,
                       const std::function<void(Job&, std::uint64_t)>& after_update = {}) {
    SmallJob parts;
    Outcome outcome;
    for (const auto epoch : remaining_epochs_until(epochs)) {
      EXPECT_EQ(job.epoch(), epoch);
      for (auto& batch : parts.train) {
        const StepReport report = parts.model.train(batch);
        if (after_update) after_update(job, report.update);
      }
      Accumulator stats;
      for (auto& batch : parts.test) {
        const Evaluation result = parts.model.evaluate(batch);
        stats["loss"] += result.loss_sum;
        stats["correct"] += static_cast<double>(result.correct);
        stats["samples"] += static_cast<double>(result.samples);
      }
      if (auto all = stats.synchronized()) {
        EXPECT_EQ(all["samples"], 359);
        outcome.test_losses.push_back(all["loss"] / all["samples"]);
        outcome.accuracies.push_back(all["correct"] / all["samples"]);
      }
    }
    outcome.digest = state_digest(job.state());
    return outcome;
  }
};

TEST_F(JobTest, TrainsToTheSameBitsOnAnyNumberOfRanks) {
  std::optional<Outcome> expected;
  for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
    std::optional<Outcome> outcome;
    run_on(ranks, {}, [&](Job& job) { outcome = train(job, 3); });
    if (world.rank() != 0) continue;
    if (!expected) expected = outcome;
    EXPECT_EQ(outcome, expected) << ranks << " ranks";
    EXPECT_EQ(outcome->accuracies.size(), 3U);
    EXPECT_GT(outcome->accuracies.back(), 0.9);
  }
}

// Stopped after some updates, on other ranks each time: the straight job's bits, in every epoch
// that was finished afterwards.
TEST_F(JobTest, GoesOnOnOtherRanksToTheSameBits) {
  std::optional<Outcome> straight;
  run_on(1, {}, [&](Job& job) { straight = train(job, 4); });
  std::size_t ranks = world.size();
  for (const std::uint64_t stop : {1U, 22U, 23U, 24U, 60U, 92U}) {  // an epoch has 23
    const std::string stopped = run_on(ranks, in_directory(), [&](Job& job) {
      train(job, 4, [&](Job& its, std::uint64_t update) {
        if (update == stop) its.stop();
      });
    });
    if (world.rank() < ranks) {
      EXPECT_EQ(stopped, "stopped by the program after update " + std::to_string(stop) +
                             "; run the program again to go on");
    }
    ranks = next_ranks(ranks);
  }
  std::optional<Outcome> outcome;
  run_on(ranks, in_directory(), [&](Job& job) {
    EXPECT_EQ(job.restarts(), 6U);
    outcome = train(job, 4);
  });
  if (world.rank() != 0) return;
  EXPECT_EQ(outcome->digest, straight->digest);
  ASSERT_EQ(outcome->test_losses.size(), 1U);  // of the last epoch, whose training was over
  EXPECT_EQ(outcome->test_losses.back(), straight->test_losses.back());
  EXPECT_EQ(outcome->accuracies.back(), straight->accuracies.back());
  const auto stored = newest_good_checkpoint(directory / "job").newest;
  EXPECT_EQ(state_digest(stored->checkpoint.state), straight->digest);
  EXPECT_EQ(read_status(directory / "job").state, RunState::finished);
}

// What ends it says nothing to the job: it goes on from the last checkpoint that there is.
TEST_F(JobTest, GoesOnAfterAFailureFromTheLastCheckpoint) {
  std::optional<Outcome> straight;
  run_on(1, {}, [&](Job& job) { straight = train(job, 3); });
  JobOptions options = in_directory();
  options.checkpoint_every = 10;
  std::size_t ranks = world.size();
  for (const std::uint64_t last : {7U, 35U, 57U}) {
    EXPECT_THROW(run_on(ranks, options,
                        [&](Job& job) {
                          train(job, 3, [&](Job&, std::uint64_t update) {
                            if (update == last) throw std::runtime_error("out of the blue");
                          });
                        }),
                 std::runtime_error);
    world.barrier();
    if (world.rank() == 0) {
      const auto stored = stored_checkpoints(directory / "job");
      EXPECT_EQ(stored.front().update, last / 10 * 10);
      const RunStatus status = read_status(directory / "job");
      EXPECT_EQ(status.state, RunState::failed);
      EXPECT_EQ(status.exit_code, std::nullopt);  // that of the exception, which is not over yet
    }
    world.barrier();
  }
  std::optional<Outcome> outcome;
  run_on(1, options, [&](Job& job) { outcome = train(job, 3); });
  if (world.rank() != 0) return;
  EXPECT_EQ(outcome->digest, straight->digest);
  EXPECT_EQ(outcome->test_losses.back(), straight->test_losses.back());
}

// What a loop has added up to the checkpoint is in it, and comes from there alone.
TEST_F(JobTest, SumsOfALoopGoOnWithIt) {
  JobOptions options = in_directory();
  options.checkpoint_every = 10;
  const auto program = [](std::uint64_t last) {
    return [last](Job& job) {
      SmallJob parts;
      Accumulator all_epochs;
      for (const auto epoch : remaining_epochs_until(2)) {
        Accumulator stats;
        stats["begun"] += 1;
        for (auto& batch : parts.train) {
          const StepReport report = parts.model.train(batch);
          for (Accumulator* one : {&stats, &all_epochs}) {
            for (const auto& minibatch : batch) {
              (*one)["samples"] += static_cast<double>(minibatch.samples.size());
            }
          }
          if (report.update == last) throw std::runtime_error("out of the blue");
        }
        const auto ranks = static_cast<double>(job.communicator().size());
        if (auto all = stats.synchronized()) {
          EXPECT_EQ(all["samples"], 1438);
          EXPECT_EQ(all["begun"], ranks);
        }
        if (auto all = all_epochs.synchronized()) {
          EXPECT_EQ(all["samples"], 1438.0 * static_cast<double>(epoch + 1));
        }
      }
    };
  };
  for (const std::uint64_t last : {7U, 15U, 38U}) {
    EXPECT_THROW(run_on(world.size(), options, program(last)), std::runtime_error);
    world.barrier();
  }
  run_on(1, options, program(0));
}

TEST_F(JobTest, ASignalToOneRankStopsAllAfterTheSameUpdate) {
  const std::string stopped = run_on(world.size(), in_directory(), [&](Job& job) {
    train(job, 4, [&](Job& its, std::uint64_t update) {
      EXPECT_LE(update, 31U);
      if (update == 30 && its.communicator().rank() + 1 == its.communicator().size()) {
        std::raise(SIGUSR1);
      }
    });
  });
  EXPECT_THAT(stopped, HasSubstr(world.rank() + 1 == world.size() ? "SIGUSR1" : "signal"));
  EXPECT_THAT(stopped, HasSubstr(" after update 31; run the program again to go on"));
  if (world.rank() != 0) return;
  EXPECT_EQ(stored_checkpoints(directory / "job").front().update, 31U);
  EXPECT_EQ(read_status(directory / "job").state, RunState::preempted);
}

// A loop without updates hears of a signal when it ends: then it is finished, and its sums are
// kept.
TEST_F(JobTest, ASignalInAnEvaluationStopsAllAtItsEnd) {
  std::uint64_t batches = 0;
  const auto program = [&](bool is_signalled) {
    return [&, is_signalled](Job& job) {
      SmallJob parts;
      for (const auto epoch : remaining_epochs_until(2)) {
        for (auto& batch : parts.train) parts.model.train(batch);
        Accumulator stats;
        for (auto& batch : parts.test) {
          stats["samples"] += static_cast<double>(parts.model.evaluate(batch).samples);
          const bool is_last = job.communicator().rank() + 1 == job.communicator().size();
          if (is_signalled && epoch == 0 && batches++ == 1 && is_last) std::raise(SIGTERM);
        }
        EXPECT_FALSE(is_signalled);
        if (auto all = stats.synchronized()) {
          EXPECT_EQ(all["samples"], 359);
        }
      }
    };
  };
  EXPECT_THAT(run_on(world.size(), in_directory(), program(true)), HasSubstr("after update 23"));
  EXPECT_EQ(batches, 4U);
  run_on(1, in_directory(), program(false));
}

TEST_F(JobTest, StopsWhenItsTimeIsUp) {
  JobOptions options = in_directory();
  options.max_seconds = 0;
  EXPECT_THAT(run_on(world.size(), options, [](Job& job) { train(job, 1); }),
              HasSubstr("after update 1;"));
}

TEST_F(JobTest, TellsItsLogsAndItsMetrics) {
  class Listener final : public RunLog {
   public:
    void update(const StepReport&) override { ++updates; }
    void checkpoint(const CheckpointReport&) override { ++checkpoints; }
    std::uint64_t updates = 0;
    std::uint64_t checkpoints = 0;
  };
  Listener listener;
  JobOptions options = in_directory();
  options.logs = {&listener};
  run_on(world.size(), options, [](Job& job) { train(job, 2); });
  if (world.rank() != 0) return;
  EXPECT_EQ(listener.updates, 46U);
  EXPECT_EQ(listener.checkpoints, 2U);  // the first and the last
  std::ifstream metrics(directory / "job" / "metrics.jsonl");
  std::uint64_t lines = 0;
  for (std::string line; std::getline(metrics, line);) {
    if (line.starts_with("{\"type\":\"update\"")) ++lines;
  }
  EXPECT_EQ(lines, 46U);
}

TEST_F(JobTest, BeginsAnewWhereItIsToldTo) {
  std::optional<Outcome> first;
  std::optional<Outcome> second;
  JobOptions options = in_directory();
  run_on(world.size(), options, [&](Job& job) { first = train(job, 1); });
  options.overwrites = true;
  run_on(world.size(), options, [&](Job& job) {
    EXPECT_EQ(job.restarts(), 0U);
    second = train(job, 1);
  });
  EXPECT_EQ(first, second);
}

TEST_F(JobTest, ThereIsOneAtATime) {
  Job job(world, {});
  EXPECT_EQ(&Job::current("this"), &job);
  EXPECT_THROW(Job(world, {}), std::logic_error);
  EXPECT_EQ(&Job::current("this"), &job);
}

TEST_F(JobTest, WithoutOneItsPartsSaySo) {
  try {
    Accumulator();
    ADD_FAILURE() << "an accumulator of no job";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Accumulator: there is no Job; before it, write: runtime"));
  }
}

TEST_F(JobTest, AStopIsAFailureThatAllHaveAgreedUpon) {
  const JobStopped stop("stopped by SIGUSR1");
  EXPECT_EQ(stop.failure().exit_code, 75);
  EXPECT_EQ(explain(std::make_exception_ptr(stop)).exit_code, 75);
}

}  // namespace
}  // namespace rubato::runtime
