// Runs that take milliseconds, for tests of whole runs.
#pragma once

#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/session.hpp"
#include "runtime/trainer.hpp"

namespace rubato::runtime {

// 300 synthetic samples of 6 x 6; minibatch 8, constant batch 40, one epoch.
inline RunOptions small_run() {
  RunOptions options;
  options.data.spec = "synthetic:samples=300,shape=1x6x6,classes=4";
  options.model = "mlp:16";
  options.batch_size = 40;
  options.minibatch = 8;
  options.epochs = 1;
  options.optimizer.momentum = 0.9;
  options.schedule.base_rate = 0.05;
  return options;
}

inline std::string digest_of_run(const collectives::Communicator& communicator,
                                 const RunOptions& options) {
  Trainer trainer(communicator, options, collectives::plain_failure);
  trainer.run({});
  return state_digest(trainer.state());
}

// Remembers what it is told.
class Recorder final : public RunLog {
 public:
  void begin(const RunFacts& facts) override { began = facts; }
  void update(const StepReport& report) override { updates.push_back(report); }
  void evaluation(const EvaluationReport& report) override { evaluations.push_back(report); }
  void end(const RunEnd& end) override { ends.push_back(end); }

  RunFacts began;
  std::vector<StepReport> updates;
  std::vector<EvaluationReport> evaluations;
  std::vector<RunEnd> ends;
};

}  // namespace rubato::runtime
