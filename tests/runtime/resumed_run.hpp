// Runs that go on in the same directory, on some of the ranks at a time.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "runtime/checkpoint_store.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/runtime/uneven_run.hpp"

namespace rubato::runtime {

// Calls a function after each update, on rank 0.
class AfterUpdate final : public RunLog {
 public:
  explicit AfterUpdate(std::function<void(std::uint64_t)> call) : call_(std::move(call)) {}
  void begin(const RunFacts& facts) override { warnings = facts.warnings; }
  void update(const StepReport& report) override { call_(report.update); }
  void warning(const std::string& sentence) override { warnings.push_back(sentence); }

  std::vector<std::string> warnings;

 private:
  std::function<void(std::uint64_t)> call_;
};

class ResumedRunTest : public UnevenRunTest {
 protected:
  // Goes on with the run in `out` on the first `ranks` ranks; the others wait.
  RunEnd go_on(RunOptions options, std::size_t ranks, std::optional<std::uint64_t> stop_after,
               const std::vector<RunLog*>& logs = {}) {
    options.stop_after_update = stop_after;
    options.output = directory / "run";
    options.output_mode = OutputMode::resume;
    const auto some = world.split(world.rank() < ranks ? 1 : 0, 0);
    RunEnd end;
    if (world.rank() < ranks) {
      Trainer trainer(some, options, collectives::plain_failure);
      end = trainer.run(logs);
    }
    world.barrier();
    return end;
  }

  std::string digest_in_directory() const {
    return state_digest(newest_good_checkpoint(directory / "run").newest->checkpoint.state);
  }

  // The updates that the metrics tell of, in order.
  std::vector<std::string> updates_in_metrics() const {
    std::vector<std::string> updates;
    std::ifstream file(directory / "run" / "metrics.jsonl");
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("{\"type\":\"update\"", 0) != 0) continue;
      updates.push_back(line.substr(0, line.find(",\"seconds\"")));
    }
    return updates;
  }

  // What refuses to go on, on every rank alike; empty if nothing does.
  std::string refusal(const RunOptions& options, std::optional<std::uint64_t> stop_after) {
    try {
      go_on(options, world.size(), stop_after);
    } catch (const collectives::AgreedFailure& failure) {
      world.barrier();
      return failure.what();
    }
    return {};
  }
};

}  // namespace rubato::runtime
