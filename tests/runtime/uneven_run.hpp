// A run whose batches leave ranks idle, are no multiple of the minibatch, and jump.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/runtime/small_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {

// On all ranks, with a directory that they share.
class UnevenRunTest : public testing::Test {
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

  RunOptions single_minibatches_run(std::uint64_t updates) const {  // of one minibatch each
    RunOptions options = uneven_run();
    options.trace_file.clear();
    options.batch_size = options.minibatch;
    options.updates = updates;
    return options;
  }
  // In the optimizer's metric where it has one, by tensor, over two updates; and clipped.
  static void measure_everything(RunOptions& options, const std::string& optimizer) {
    options.optimizer.name = optimizer;
    options.optimizer.momentum = 0;
    options.rule = "adamscale";
    options.clip_norm = 0.5;
    options.measures_tensors = true;
    options.single_minibatch = optim::SingleMinibatch::difference;
  }

  collectives::Communicator world = collectives::Communicator::world();
  collectives::Communicator self = world.split(static_cast<int>(world.rank()), 0);
  std::filesystem::path directory;

 private:
  std::unique_ptr<TemporaryDirectory> directory_;  // of rank 0
};

}  // namespace rubato::runtime
