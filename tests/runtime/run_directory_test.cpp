// The directory of a run: who may write there, and what a run goes on from.
#include "runtime/run_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/errors.hpp"
#include "tests/runtime/resumed_run.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunDirectoryTest : public ResumedRunTest {};

TEST_F(RunDirectoryTest, IsTakenAwayAgainIfNoRunBeginsInIt) {
  if (world.rank() != 0) return;
  const fs::path made = directory / "made";
  { const RunDirectory opened(made, OutputMode::fresh); }
  EXPECT_FALSE(fs::exists(made));
  fs::create_directory(made);
  { const RunDirectory opened(made, OutputMode::fresh); }
  EXPECT_TRUE(fs::exists(made));
}

TEST_F(RunDirectoryTest, WhatAKilledWriterLeftIsRemoved) {
  if (world.rank() != 0) return;
  const fs::path path = directory / "left";
  fs::create_directories(path / ".tmp-checkpoints");
  std::ofstream(path / ".tmp-state.json-host-1-1") << "{";
  const RunDirectory opened(path, OutputMode::fresh);
  EXPECT_FALSE(fs::exists(path / ".tmp-checkpoints"));
  EXPECT_FALSE(fs::exists(path / ".tmp-state.json-host-1-1"));
}

TEST_F(RunDirectoryTest, MetricsWhoseCheckpointsAreGoneAreKeptUnderAnotherName) {
  go_on(uneven_run(), world.size(), 3);
  if (world.rank() == 0) fs::remove_all(directory / "run" / "checkpoints");
  world.barrier();
  go_on(uneven_run(), world.size(), 4);
  if (world.rank() != 0) return;
  EXPECT_TRUE(fs::exists(directory / "run" / "metrics.jsonl.1"));
  EXPECT_EQ(updates_in_metrics().size(), 4U);
}

TEST_F(RunDirectoryTest, RecordsOptionsAndTraceAndIsEmptiedForARunFromTheBeginning) {
  if (world.rank() != 0) return;
  const fs::path path = directory / "records";
  {
    RunDirectory opened(path, OutputMode::fresh);
    opened.begin_anew();
    opened.record("seed = 1\n", data::BatchTrace::from_rows({8, 16}));
  }
  std::ifstream trace(path / "trace.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(trace), {}), "step,batchsize\n0,8\n1,16\n");
  EXPECT_THROW(RunDirectory(path, OutputMode::fresh), OutputError);
  {
    RunDirectory sparse(path, OutputMode::overwrite);
    sparse.record("", data::BatchTrace::sparse({{0, 8}, {5, 16}}));
  }
  std::ifstream rows(path / "trace.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(rows), {}), "update,batchsize\n0,8\n5,16\n");
  std::ofstream(path / "decisions.csv") << "update,batchsize\n";
  fs::create_directory(path / "tensorboard");
  std::ofstream(path / "tensorboard" / "events.out.tfevents.1.host") << "x";
  RunDirectory again(path, OutputMode::overwrite);
  again.begin_anew();
  EXPECT_FALSE(fs::exists(path / "decisions.csv"));
  EXPECT_FALSE(fs::exists(path / "tensorboard"));
  again.record("seed = 2\n", data::BatchTrace::constant(8));
  EXPECT_FALSE(fs::exists(path / "trace.csv"));
}

TEST_F(RunDirectoryTest, ADamagedCheckpointIsSkippedWithAReasonAndCostsNothingButTime) {
  RunOptions options = uneven_run();
  options.checkpoint_every = 1;
  go_on(options, world.size(), 5);
  std::string expected;
  if (world.rank() == 0) {
    expected = digest_of_run(self, uneven_run());
    std::ofstream(directory / "run" / "checkpoints" / "ckpt-5.h5", std::ios::app) << "x";
    fs::remove(directory / "run" / "checkpoints" / "ckpt-4.h5.sha256");
  }
  world.barrier();
  AfterUpdate log([](std::uint64_t) {});
  const RunEnd end = go_on(options, world.size(), std::nullopt, {&log});
  EXPECT_EQ(end.updates, 12U);
  if (world.rank() != 0) return;
  EXPECT_EQ(digest_in_directory(), expected);
  ASSERT_EQ(log.warnings.size(), 2U);
  EXPECT_THAT(log.warnings[0], HasSubstr("ckpt-5.h5"));
  EXPECT_THAT(log.warnings[0], HasSubstr("checksum"));
  EXPECT_THAT(log.warnings[1], HasSubstr("ckpt-4.h5"));
  EXPECT_EQ(updates_in_metrics().size(), 12U);
}

TEST_F(RunDirectoryTest, WhereNoCheckpointIsGoodTheRunIsRefused) {
  const RunOptions options = uneven_run();
  go_on(options, world.size(), 2);
  if (world.rank() == 0) {
    for (const auto& stored : stored_checkpoints(directory / "run")) {
      fs::resize_file(stored.file, 100);
    }
  }
  world.barrier();
  const std::string sentence = refusal(options, std::nullopt);
  EXPECT_THAT(sentence, HasSubstr("none of its 2 checkpoints can be used"));
  EXPECT_THAT(sentence, HasSubstr("ckpt-2.h5"));
}

TEST_F(RunDirectoryTest, OtherDataAndTracesAreRefusedOtherPathsAreNot) {
  go_on(uneven_run(), world.size(), 2);
  RunOptions other_data = uneven_run();
  other_data.data.spec += ",seed=2";
  EXPECT_THAT(refusal(other_data, 3), HasSubstr("the training set differs"));
  RunOptions other_trace = uneven_run();
  other_trace.trace_file.clear();
  other_trace.updates = 12;
  EXPECT_THAT(refusal(other_trace, 3), HasSubstr("the trace differs"));
  RunOptions other_model = uneven_run();
  other_model.model = "mlp:17";
  EXPECT_THAT(refusal(other_model, 3), HasSubstr("the model's layout differs"));
  RunOptions moved = uneven_run();
  if (world.rank() == 0) fs::copy(directory / "trace.csv", directory / "moved.csv");
  world.barrier();
  moved.trace_file = directory / "moved.csv";
  EXPECT_EQ(refusal(moved, 3), "");
}

TEST_F(RunDirectoryTest, ASecondRunInTheSameDirectoryIsRefused) {
  RunOptions options = uneven_run();
  options.output = directory / "run";
  options.output_mode = OutputMode::resume;
  const Trainer first(world, options, collectives::plain_failure);
  world.barrier();
  try {
    const Trainer second(world, options, collectives::plain_failure);
    ADD_FAILURE() << "expected a refusal";
  } catch (const collectives::AgreedFailure& failure) {
    EXPECT_THAT(failure.what(),
                HasSubstr("in use by process " +
                          (world.rank() == 0 ? std::to_string(::getpid()) : std::string())));
  }
}

}  // namespace
}  // namespace rubato::runtime
