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
#include "tests/temporary_directory.hpp"

namespace rubato::runtime::testing {

// Numbers for themselves: sample i has one feature, i, and label i mod 2.
class CountedSamples final : public data::Dataset {
 public:
  explicit CountedSamples(std::size_t size) : size_(size) {}
  std::size_t size() const override { return size_; }
  data::SampleShape shape() const override { return {}; }
  std::size_t classes() const override { return 2; }
  void read(std::span<const std::uint64_t> indices, std::span<float> inputs,
            std::span<std::int32_t> labels) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      inputs[i] = static_cast<float>(indices[i]);
      labels[i] = static_cast<std::int32_t>(indices[i] % 2);
    }
  }

 private:
  std::size_t size_;
};

class JobTest : public ::testing::Test {
 protected:
  JobTest() {
    if (world.rank() == 0) own_.emplace();
    directory = world.broadcast(own_ ? own_->path().string() : std::string(), 0);
  }
  ~JobTest() override { world.barrier(); }

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

}  // namespace rubato::runtime::testing
