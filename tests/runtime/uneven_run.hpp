// A run whose batches leave ranks idle, are no multiple of the minibatch, and jump.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/runtime/small_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime::testing {

// On all ranks, with a directory that they share.
class UnevenRunTest : public ::testing::Test {
 protected:
  UnevenRunTest() {
    if (world.rank() == 0) {
      directory_ = std::make_unique<TemporaryDirectory>();
      std::ofstream(directory_->path() / "trace.csv")
          << "step,batchsize\n0,8\n1,40\n2,3\n3,64\n4,17\n5,8\n6,100\n7,1\n8,24\n9,60\n10,9\n"
             "11,128\n";
    }
    directory = world.broadcast(directory_ ? directory_->path().string() : std::string(), 0);
  }
  ~UnevenRunTest() override { world.barrier(); }

  RunOptions uneven_run() const {  // 12 updates
    RunOptions options = small_run();
    options.trace_file = directory / "trace.csv";
    options.epochs.reset();
    options.reference_batch = 16;
    options.schedule.base_rate = 0.01;
    return options;
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Communicator self = world.split(static_cast<int>(world.rank()), 0);
  std::filesystem::path directory;

 private:
  std::unique_ptr<TemporaryDirectory> directory_;  // of rank 0
};

}  // namespace rubato::runtime::testing
