// A whole run: from options to a trained model, update by update.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/session.hpp"
#include "collectives/topology.hpp"
#include "data/data_source.hpp"
#include "data/trace_plan.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/gradient_sync.hpp"
#include "runtime/adaptive_batch.hpp"
#include "runtime/evaluator.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/replica.hpp"
#include "runtime/run_directory.hpp"
#include "runtime/run_options.hpp"
#include "runtime/run_output.hpp"
#include "runtime/run_timeline.hpp"
#include "runtime/state_transfer.hpp"
#include "runtime/stop_wish.hpp"
#include "runtime/train_step.hpp"
#include "runtime/training_state.hpp"
#include "runtime/watchdog.hpp"

namespace rubato::runtime {

class Trainer {
 public:
  // Collective. Opens the output directory, if there is to be one, and checks everything that a run
  // needs, on every rank; what fails on any rank fails on all (collectives::AgreedFailure). Nothing
  // of a former run is touched yet. Under OutputMode::resume it stands where the newest good
  // checkpoint does.
  Trainer(const collectives::Communicator& world, RunOptions options,
          const collectives::Explain& explain);
  // The same with a directory that was opened before, to read options from its checkpoint.
  Trainer(const collectives::Communicator& world, RunOptions options,
          const collectives::Explain& explain, OpenedRun opened);
  ~Trainer();

  // Collective. Trains to the end, or until it is asked to stop: by a signal to any rank
  // (options.stop_request), by options.max_seconds or stop_after_update. `logs` are told on rank 0;
  // the metrics file joins them if there is an output directory.
  RunEnd run(std::vector<RunLog*> logs);

  // Whether the run that it goes on with is at its end already, and says so in its state.json.
  bool is_finished() const {
    return was_finished_ && (!plan_->next(cursor_) || has_reached_goal());
  }

  // The state at the last update boundary, whole on every rank, from the node's memory: not
  // collective, but no rank may be training meanwhile.
  TrainingState state();
  const RunFacts& facts() const noexcept { return facts_; }

 private:
  void take_inputs();
  void require_same_everywhere();
  void describe_run();
  void go_on_from(const ResumePoint& resume);
  RunEnd train(RunOutput& output);
  void write_checkpoint_if_due(RunOutput& output);
  RunEnd finish(RunOutput& output, StopCause cause, RunEnd end, std::uint64_t samples_before);
  [[noreturn]] void fail(RunOutput& output);
  StateParts parts();
  EvaluationReport evaluate();
  void require_progress(const StepReport& report);
  bool has_reached_goal() const;
  void decide(RunOutput& output);
  void decide_on_other_ranks(RunOutput& output);
  RunOutput::Record record();

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  RunOptions options_;
  StopWish stop_{options_, start_};
  collectives::Explain explain_;
  std::unique_ptr<RunDirectory> directory_;  // of rank 0
  collectives::Topology topology_;
  Heartbeat heartbeat_;
  std::optional<Watchdog> watchdog_;
  std::optional<RunTimeline> timeline_;
  data::DataSource source_;
  std::optional<data::TracePlan> plan_;
  std::optional<data::CropFlip> augmentation_;
  std::optional<optim::BatchLimits> limits_;  // of an adaptive run, for its data
  std::unique_ptr<AdaptiveBatch> adaptive_;
  std::unique_ptr<optim::ElasticOptimizer> optimizer_;
  std::unique_ptr<nn::Model> model_;  // until the replica takes it
  std::unique_ptr<Replica> replica_;
  std::unique_ptr<data::Prefetcher> loader_;
  std::unique_ptr<optim::GradientSync> sync_;
  std::unique_ptr<TrainStep> step_;
  std::unique_ptr<Evaluator> evaluator_;
  RunFacts facts_;
  std::vector<ContextEntry> identity_;
  data::Cursor cursor_;
  bool was_finished_ = false;
  int skipped_in_a_row_ = 0;
  WaitingTotals waiting_;
};

}  // namespace rubato::runtime
