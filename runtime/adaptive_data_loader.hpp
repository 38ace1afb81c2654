// The loader of a job: which samples each batch uses, on whatever ranks there are.
//
//   runtime::AdaptiveDataLoader train(source.train, {.batch_size = 64, .shuffle = true});
//   train.autoscale_batch_size(1028, {32, 128});
//   for (auto& batch : train) model.train(batch);
//
// A batch is one update of the whole job: all ranks loop over the same batches, and each has a
// share of every one's minibatches (loader_loop.hpp). `batch_size` is the whole batch, exactly, on
// any number of ranks, and so is how it is cut; so neither changes a bit of the result.
//
// A loop is one pass over the data, every sample once. With statistical epochs it ends when the
// job's progress is that of so many epochs: with the update at which tau >= N (epoch + 1) / B0 (N
// samples, B0 the reference batch; tau the sum of the gains, optim/elastic_optimizer.hpp), wherever
// in a pass that is; the next loop goes on there, so that no sample is repeated or left out.
//
// A loop left early, by break or an exception, is finished: the next one begins a new pass, but
// under statistical epochs goes on. A job that goes on (job.hpp) skips loops that were finished.
//
// One loader of a job trains its model: the one that chooses its batch sizes, or else the first one
// made. The others only evaluate.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/trace_plan.hpp"
#include "optim/batch_candidates.hpp"
#include "runtime/adaptive_batch.hpp"
#include "runtime/loader_loop.hpp"
#include "runtime/minibatch_queue.hpp"

namespace rubato::runtime {

class Job;

// Samples of a minibatch, in the epoch in which it was asked for: to use it in another one throws
// std::logic_error.
class LocalBatchSize {
 public:
  explicit LocalBatchSize(std::uint64_t samples);
  operator std::uint64_t() const;  // NOLINT: it is a number

 private:
  std::uint64_t samples_;
  std::uint64_t mark_;
};

struct LoaderOptions {
  std::uint64_t batch_size = 1;  // of all ranks together; of an adaptive loader the initial one
  std::uint64_t minibatch = 0;   // samples that a rank computes at once; default: at most 32
  bool shuffle = false;
  bool drop_last = false;  // leave out what is too little for a batch; default: a short batch
  bool prefetch = true;    // read the next batch while this one computes
  bool statistical_epochs = false;
  data::OrderKind order = data::OrderKind::torch;  // of shuffled samples
  double decision_budget = 0.01;  // of the updates' time, what choosing batch sizes may cost
};

class AdaptiveDataLoader {
 public:
  // Collective. Throws std::logic_error without a Job, in a loop, or when the job has begun. Wrong
  // options fail on all ranks (collectives::AgreedFailure, exit code 64).
  AdaptiveDataLoader(std::shared_ptr<const data::Dataset> dataset, LoaderOptions options);
  AdaptiveDataLoader(const AdaptiveDataLoader&) = delete;
  AdaptiveDataLoader& operator=(const AdaptiveDataLoader&) = delete;
  ~AdaptiveDataLoader();

  // Before the first loop: from now on the loader chooses its batch sizes by goodput
  // (adaptive_batch.hpp), from `batch_size` up to a maximum, and minibatches within the bounds.
  // Either may be left out. Fails on all ranks where no batch is within them on so many ranks. In a
  // job that repeats decisions (JobOptions) these are what counts.
  void autoscale_batch_size(std::uint64_t max_batch_size);
  void autoscale_batch_size(std::uint64_t max_batch_size, optim::LocalBounds local_bounds);
  void autoscale_batch_size(optim::LocalBounds local_bounds);

  // A loop. Collective: on all ranks.
  LoaderLoop begin();
  std::default_sentinel_t end() const noexcept { return {}; }

  // Of the next batch. Collective the first time, and after the job has come to other ranks.
  std::uint64_t current_batch_size();
  LocalBatchSize get_local_bsz();

  // For the job and its parts.
  const std::shared_ptr<const data::Dataset>& dataset() const noexcept { return dataset_; }
  const LoaderOptions& options() const noexcept { return options_; }
  const data::TracePlan& plan() const { return *plan_; }
  data::OrderKind order() const noexcept;
  std::uint64_t largest_minibatch() const;
  std::string description() const;  // of what decides the result
  bool is_autoscaled() const noexcept { return limits_.has_value(); }
  const optim::BatchLimits& limits() const { return limits_.value(); }  // if it is autoscaled
  bool is_adaptive() const noexcept { return adaptive_ != nullptr; }
  std::string decisions() const;  // so far; empty unless it is adaptive
  const data::Cursor& cursor() const noexcept { return cursor_; }
  data::Cursor& cursor() noexcept { return cursor_; }
  void go_on_from(const data::Cursor& cursor) noexcept { cursor_ = cursor; }
  void prepare(bool trains);  // not collective; throws as the constructor
  void restore(const Checkpoint& checkpoint);
  // As AdaptiveBatch, if the loader chooses its batch sizes.
  void try_minibatches(const std::function<double(std::uint64_t)>& seconds_of);
  void add_entries(std::vector<ContextEntry>& entries) const;

  // For its loops: the batch that begins where the loader stands, if the loop is not over.
  std::optional<data::PlannedUpdate> first();  // collective
  std::optional<data::PlannedUpdate> next();
  // The batch after this one, as far as that is known before it was trained on.
  const data::PlannedUpdate* upcoming(const data::PlannedUpdate& update);
  MinibatchQueue& queue();
  void trained(const data::PlannedUpdate& update, StepReport& report);
  void pass_by(const data::PlannedUpdate& update) noexcept { cursor_ = update.end; }
  void decide_after(const data::PlannedUpdate& update);  // collective; if it is due
  void leave_early() noexcept;
  bool is_over_after(const data::PlannedUpdate& update) const;

 private:
  void autoscale(optim::BatchLimits limits);
  data::BatchTrace trace() const;
  data::TraceRow row() const;
  void decide(const std::string& besides = {});
  void decide_on_other_ranks();
  bool has_reached_epoch_end() const;

  Job& job_;
  std::shared_ptr<const data::Dataset> dataset_;
  LoaderOptions options_;
  std::optional<optim::BatchLimits> limits_;
  std::optional<data::TracePlan> plan_;
  std::unique_ptr<AdaptiveBatch> adaptive_;
  data::Cursor cursor_;
  bool is_decision_due_ = false;
  struct Upcoming {
    data::Cursor from;
    std::optional<data::PlannedUpdate> update;
  };
  std::optional<Upcoming> upcoming_;
  std::optional<MinibatchQueue> queue_;
};

}  // namespace rubato::runtime
