// Jobs that take milliseconds, in a directory of their own, on some of the ranks at a time.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"
#include "runtime/adaptive_data_loader.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/job.hpp"
#include "runtime/job_epochs.hpp"
#include "tests/runtime/counted_samples.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {

class SmallJobTest : public testing::Test {
 protected:
  SmallJobTest() {
    if (world.rank() == 0) own_.emplace();
    directory = world.broadcast(own_ ? own_->path().string() : std::string(), 0);
  }
  ~SmallJobTest() override { world.barrier(); }

  JobOptions in_directory() const {
    JobOptions options;
    options.directory = directory / "job";
    return options;
  }

  // Runs the program on the first `ranks` ranks; the others wait. What a stop has said, or nothing.
  std::string run_on(std::size_t ranks, const JobOptions& options,
                     const std::function<void(Job&)>& program) {
    const auto some = world.split(world.rank() < ranks ? 1 : 0, 0);
    std::string stopped;
    if (world.rank() < ranks) {
      try {
        Job job(some, options);
        program(job);
      } catch (const JobStopped& stop) {
        stopped = stop.what();
      }
    }
    world.barrier();
    return stopped;
  }

  // The failure of all ranks that begins so, if there is one.
  std::string refusal(const JobOptions& options, const std::function<void(Job&)>& program,
                      int exit_code = exit_usage) {
    try {
      Job job(world, options);
      program(job);
    } catch (const collectives::AgreedFailure& failure) {
      EXPECT_EQ(failure.failure().exit_code, exit_code);
      return failure.what();
    }
    return {};
  }

  void clear() {
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove_all(directory / "job");
    world.barrier();
  }

  std::size_t next_ranks(std::size_t ranks) const { return ranks % world.size() + 1; }

  const collectives::Communicator world = collectives::Communicator::world();
  std::filesystem::path directory;

 private:
  std::optional<TemporaryDirectory> own_;
};

// A model and loaders on the digits.
struct SmallJob {
  explicit SmallJob(LoaderOptions loader = {.batch_size = 64, .minibatch = 8, .shuffle = true},
                    ModelOptions options = {}, const std::string& network = "mlp:16")
      : model(nn::make_model(network, {8, 8, 1}, 10, nn::backend("auto")),
              {.name = "sgd", .momentum = 0.9}, optim::LearningRateSchedule({.base_rate = 0.05}),
              options),
        train(source().train, loader),
        test(source().test, {.batch_size = 100}) {}

  static const data::DataSource& source() {
    static const data::DataSource digits = data::open_data({.spec = "digits"});
    return digits;
  }

  AdaptiveDataParallel model;
  AdaptiveDataLoader train;
  AdaptiveDataLoader test;
};

}  // namespace rubato::runtime
