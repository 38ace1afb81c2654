// A whole run: from options to a trained model, update by update.
#pragma once

#include <exception>
#include <functional>
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
#include "runtime/evaluator.hpp"
#include "runtime/replica.hpp"
#include "runtime/run_log.hpp"
#include "runtime/run_options.hpp"
#include "runtime/state_transfer.hpp"
#include "runtime/train_step.hpp"
#include "runtime/training_state.hpp"

namespace rubato::runtime {

class Trainer {
 public:
  using Explain = std::function<collectives::Failure(std::exception_ptr)>;

  // Collective. Opens and checks everything that a run needs, on every rank; what fails on any rank
  // fails on all (collectives::AgreedFailure). Nothing is written yet.
  Trainer(const collectives::Communicator& world, RunOptions options, const Explain& explain);
  ~Trainer();

  // Collective. Trains to the end. `logs` are told on rank 0; the metrics file joins them if there
  // is an output directory.
  RunEnd run(const std::vector<RunLog*>& logs);

  // The state at the last update boundary, whole on every rank, from the node's memory: not
  // collective, but no rank may be training meanwhile.
  TrainingState state();
  const RunFacts& facts() const noexcept { return facts_; }

 private:
  void open_inputs();
  RunEnd train(const std::vector<RunLog*>& logs);
  void require_same_everywhere();
  void describe_run();
  void prepare_output();
  void checkpoint();
  StateParts parts();
  EvaluationReport evaluate();
  void require_finite_weights() const;
  bool has_reached_goal() const;

  RunOptions options_;
  Explain explain_;
  collectives::Topology topology_;
  data::DataSource source_;
  std::optional<data::TracePlan> plan_;
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
};

}  // namespace rubato::runtime
