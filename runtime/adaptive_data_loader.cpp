// See adaptive_data_loader.hpp.
#include "runtime/adaptive_data_loader.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "data/errors.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/batch_advisor.hpp"
#include "runtime/job.hpp"
#include "runtime/job_progress.hpp"

namespace rubato::runtime {

namespace {

constexpr std::uint64_t usual_minibatch = 32;  // that of rubato train

void check(const data::Dataset* dataset, const LoaderOptions& options) {
  const auto refuse = [](const std::string& sentence) {
    throw std::invalid_argument("AdaptiveDataLoader: " + sentence);
  };
  if (dataset == nullptr) refuse("found no data set (has this source a test set?)");
  if (options.batch_size == 0) refuse("batch_size is 0, expected at least 1");
  if (options.drop_last && options.batch_size > dataset->size()) {
    refuse("batch_size is " + std::to_string(options.batch_size) + ", expected at most the " +
           std::to_string(dataset->size()) + " samples of the data set, or drop_last = false");
  }
}

}  // namespace

LocalBatchSize::LocalBatchSize(std::uint64_t samples) : samples_(samples), mark_(epoch_mark()) {}

LocalBatchSize::operator std::uint64_t() const {
  if (mark_ == epoch_mark()) return samples_;
  throw std::logic_error(
      "get_local_bsz(): this batch size was asked for in another epoch, and may have changed "
      "since; ask again in each epoch");
}

AdaptiveDataLoader::AdaptiveDataLoader(std::shared_ptr<const data::Dataset> dataset,
                                       LoaderOptions options)
    : job_(Job::current("AdaptiveDataLoader")), dataset_(std::move(dataset)), options_(options) {
  job_.agree([this] { check(dataset_.get(), options_); });
  const std::uint64_t whole = std::min<std::uint64_t>(options_.batch_size, dataset_->size());
  if (options_.minibatch == 0) options_.minibatch = std::min(whole, usual_minibatch);
  options_.minibatch = std::min(options_.minibatch, whole);
  job_.add(*this);
}

AdaptiveDataLoader::~AdaptiveDataLoader() { job_.remove(*this); }

void AdaptiveDataLoader::autoscale_batch_size(std::uint64_t max_batch_size) {
  autoscale({.initial_batch = options_.batch_size, .max_batch_size = max_batch_size});
}

void AdaptiveDataLoader::autoscale_batch_size(std::uint64_t max_batch_size,
                                              optim::LocalBounds local_bounds) {
  autoscale({.initial_batch = options_.batch_size,
             .max_batch_size = max_batch_size,
             .local_bounds = local_bounds});
}

void AdaptiveDataLoader::autoscale_batch_size(optim::LocalBounds local_bounds) {
  autoscale({.initial_batch = options_.batch_size, .local_bounds = local_bounds});
}

void AdaptiveDataLoader::autoscale(optim::BatchLimits limits) {
  if (job_.has_begun()) {
    throw std::logic_error(
        "autoscale_batch_size(): the job has begun; call it before the job's first loop");
  }
  const AdaptiveDataLoader* const other = job_.trained_loader();
  if (other != nullptr && other != this && other->is_autoscaled()) {
    throw std::logic_error(
        "autoscale_batch_size(): another loader of this job chooses its batches");
  }
  const std::size_t ranks = job_.communicator().size();
  limits_ = limits_within(limits, dataset_->size(), ranks);
  if (job_.options().decisions) return;
  job_.agree([&] { initial_batch(*limits_, ranks, "autoscale_batch_size()"); });
}

data::OrderKind AdaptiveDataLoader::order() const noexcept {
  return options_.shuffle ? options_.order : data::OrderKind::sequential;
}

std::string AdaptiveDataLoader::description() const {
  std::string text = std::to_string(dataset_->size()) + " samples " + to_string(order()) +
                     ", batches of " + std::to_string(options_.batch_size);
  text += limits_ ? " and more" : " in minibatches of " + std::to_string(options_.minibatch);
  if (options_.drop_last) text += ", last one dropped";
  if (options_.statistical_epochs) text += ", statistical epochs";
  return text;
}

// The batch sizes from the beginning, as far as they are known. Without end.
data::BatchTrace AdaptiveDataLoader::trace() const {
  if (adaptive_) return adaptive_->trace();
  if (limits_) {
    data::BatchTrace decided = data::BatchTrace::from_csv(*job_.options().decisions);
    if (decided.is_endless()) return decided;
    throw data::ContentError(decided.name() +
                             ": found a trace with a row for each update, expected an adaptive "
                             "job's decisions.csv, whose column \"update\" says from which on a "
                             "row holds");
  }
  return data::BatchTrace::sparse({{0, options_.batch_size, options_.minibatch, 0}});
}

void AdaptiveDataLoader::prepare(bool trains) {
  if (options_.statistical_epochs && (!trains || job_.model() == nullptr)) {
    throw std::logic_error(
        "AdaptiveDataLoader: statistical_epochs is set for a loader that trains no model; what "
        "would tell its progress?");
  }
  if (trains && job_.options().decisions && !limits_) {
    throw std::invalid_argument(
        "AdaptiveDataLoader: the job is to repeat decisions, and this loader's batches do not "
        "change; call autoscale_batch_size(), or give the job no decisions");
  }
  if (limits_ && !job_.options().decisions) {
    RunOptions options = job_.run();
    options.adaptive = {.limits = *limits_, .budget = options_.decision_budget};
    const bool is_measured = trains && job_.model() != nullptr;
    const double reference = is_measured ? job_.model()->reference_batch(*this)
                                         : static_cast<double>(options_.batch_size);
    adaptive_ = std::make_unique<AdaptiveBatch>(options, *limits_, job_.topology(), reference);
  }
  plan_.emplace(trace(), data::PlanOptions{.samples = dataset_->size(),
                                           .minibatch = options_.minibatch,
                                           .epoch_end = options_.drop_last ? data::EpochEnd::drop
                                                                           : data::EpochEnd::cut});
}

std::uint64_t AdaptiveDataLoader::largest_minibatch() const {
  return adaptive_ ? adaptive_->largest_minibatch() : plan_->largest_minibatch();
}

std::string AdaptiveDataLoader::decisions() const {
  return adaptive_ ? adaptive_->decisions() : std::string();
}

void AdaptiveDataLoader::restore(const Checkpoint& checkpoint) {
  if (!adaptive_) return;
  adaptive_->restore(checkpoint);
  plan_.emplace(adaptive_->trace(), plan_->options());
}

void AdaptiveDataLoader::try_minibatches(const std::function<double(std::uint64_t)>& seconds_of) {
  if (adaptive_) adaptive_->try_minibatches(seconds_of);
}

void AdaptiveDataLoader::add_entries(std::vector<ContextEntry>& entries) const {
  if (!adaptive_) return;
  for (ContextEntry& entry : adaptive_->entries()) entries.push_back(std::move(entry));
}

data::TraceRow AdaptiveDataLoader::row() const {
  const data::BatchTrace& trace = plan_->trace();
  return trace.row(trace.row_of(cursor_.update));
}

std::uint64_t AdaptiveDataLoader::current_batch_size() {
  decide_on_other_ranks();
  return row().batch_size;
}

LocalBatchSize AdaptiveDataLoader::get_local_bsz() {
  decide_on_other_ranks();
  return LocalBatchSize(std::min(row().minibatch, row().batch_size));
}

void AdaptiveDataLoader::decide_on_other_ranks() {
  job_.begin();
  if (adaptive_ && adaptive_->needs_decision()) decide();
}

LoaderLoop AdaptiveDataLoader::begin() {
  job_.begin();
  return LoaderLoop(*this);
}

MinibatchQueue& AdaptiveDataLoader::queue() {
  if (!queue_) {
    queue_.emplace(dataset_, order(), job_.options().seed, largest_minibatch(),
                   job_.communicator().rank(), job_.communicator().size());
  }
  return *queue_;
}

// A loop may begin where a pass was left early. The rows of what was decided then say so.
std::optional<data::PlannedUpdate> AdaptiveDataLoader::first() {
  if (adaptive_) {
    if (is_decision_due_ || adaptive_->needs_decision()) decide();
    if (!plan_->passes(plan_->settled(cursor_))) {
      job_.tell(adaptive_->begin_epoch(cursor_, plan_, epoch_left_early));
    }
  }
  std::optional<data::PlannedUpdate> update = next();
  const bool is_pass_over = update && cursor_.position > 0 && update->begin.position == 0;
  if (!is_pass_over || options_.statistical_epochs) return update;
  cursor_ = update->begin;  // on these ranks nothing fits any more
  return std::nullopt;
}

std::optional<data::PlannedUpdate> AdaptiveDataLoader::next() {
  if (has_reached_epoch_end()) return std::nullopt;
  std::optional<Upcoming> known = std::exchange(upcoming_, std::nullopt);
  if (known && known->from == cursor_) return std::move(known->update);
  return plan_->next(cursor_);
}

const data::PlannedUpdate* AdaptiveDataLoader::upcoming(const data::PlannedUpdate& update) {
  const bool is_open = adaptive_ && adaptive_->is_decision_due(update);
  if (!options_.prefetch || is_open) return nullptr;
  if (!upcoming_ || upcoming_->from != update.end) {
    upcoming_ = Upcoming{update.end, plan_->next(update.end)};
  }
  return &*upcoming_->update;
}

void AdaptiveDataLoader::trained(const data::PlannedUpdate& update, StepReport& report) {
  cursor_ = update.end;
  if (!adaptive_) return;
  is_decision_due_ = adaptive_->is_decision_due(update);  // as upcoming() saw it
  adaptive_->observe(update, report);
}

// Where the progress ends an epoch is known to who follows it; the decisions say it to others.
void AdaptiveDataLoader::decide_after(const data::PlannedUpdate& update) {
  const bool ends = adaptive_ && options_.statistical_epochs && is_over_after(update);
  const std::uint64_t rows = plan_->trace().rows();
  if (is_decision_due_) decide(ends ? statistical_epoch_ended : "");
  if (!ends || plan_->trace().rows() > rows) return;
  job_.tell(adaptive_->begin_epoch(cursor_, plan_, statistical_epoch_ended));
}

void AdaptiveDataLoader::decide(const std::string& besides) {
  is_decision_due_ = false;
  upcoming_.reset();
  const bool is_measured = job_.model() != nullptr;
  adaptive_->decide(cursor_, plan_,
                    is_measured ? job_.model()->noise()
                                : optim::GradientNoise(static_cast<double>(options_.batch_size)),
                    besides);
  if (const auto report = adaptive_->take_report()) job_.tell(*report);
}

void AdaptiveDataLoader::leave_early() noexcept {
  upcoming_.reset();
  if (options_.statistical_epochs || cursor_.position == 0) return;
  ++cursor_.epoch;
  cursor_.position = 0;
  cursor_.minibatch = 0;
}

bool AdaptiveDataLoader::is_over_after(const data::PlannedUpdate& update) const {
  return options_.statistical_epochs ? has_reached_epoch_end() : update.ends_epoch;
}

bool AdaptiveDataLoader::has_reached_epoch_end() const {
  if (!options_.statistical_epochs) return false;
  const auto epoch = job_.epoch();
  if (!epoch) {
    throw std::logic_error(
        "AdaptiveDataLoader: statistical_epochs is set, and there is no epoch; put the loop into "
        "one over remaining_epochs_until()");
  }
  const double samples = static_cast<double>(dataset_->size()) * static_cast<double>(*epoch + 1);
  return job_.model()->progress() >= samples / job_.model()->reference_batch();
}

}  // namespace rubato::runtime
