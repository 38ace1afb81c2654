// See job.hpp. What a job is made of is registered here as the program makes it, and put together
// in the order in which a run is set up (trainer.cpp): check, agree, memory, checkpoint, output.
#include "runtime/job.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include "collectives/session.hpp"
#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "runtime/adaptive_data_loader.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/errors.hpp"
#include "runtime/job_identity.hpp"
#include "runtime/run_context.hpp"
#include "runtime/text_pieces.hpp"
#include "runtime/weights_check.hpp"

namespace rubato::runtime {

namespace {

constexpr const char* record_entry = "job";
Job* the_job = nullptr;

void require_none() {
  if (the_job == nullptr) return;
  throw std::logic_error("Job: there is one already in this process; one at a time");
}

OpenedRun open(const collectives::Communicator& world, const JobOptions& options,
               const RunOptions& run) {
  if (!options.directory) return {};
  return open_run(world, *options.directory, run.output_mode, options.explain);
}

}  // namespace

Job::Job(const collectives::Communicator& world, JobOptions options)
    : options_((require_none(), std::move(options))),
      run_(run_options(options_)),
      stop_wish_(run_, std::chrono::steady_clock::now()),
      exceptions_before_(std::uncaught_exceptions()),
      opened_(open(world, options_, run_)),
      topology_(world) {
  agree([this] {
    nn::check_arithmetic();
    nn::select_kernels(nn::backend(options_.backend), options_.isa);
    take_record();
    if (options_.directory && run_.stop_request == nullptr) own_signals_.emplace();
  });
  if (own_signals_) run_.stop_request = &*own_signals_;
  the_job = this;
}

Job::~Job() {
  the_job = nullptr;
  if (!output_ || has_stopped_) return;
  const bool has_failed = std::uncaught_exceptions() > exceptions_before_;
  try {
    if (has_failed) {
      // Which one, and so the exit code, is not known while it is on its way.
      output_->failed("the program ended with an exception", std::nullopt, cursor());
    } else {
      output_->end({.reason = "done", .updates = cursor().update}, cursor());
    }
  } catch (const std::exception&) {  // the last checkpoint is what counts
  }
}

Job& Job::current(const std::string& what) {
  if (the_job != nullptr) return *the_job;
  throw std::logic_error(
      what +
      (collectives::Session::is_open()
           ? ": there is no Job; before it, write: runtime::Job job(world, {.directory = ...});"
           : ": there is no collectives::Session, and no Job in it; put the program into "
             "collectives::run_session(argc, argv, [&](auto& world) { ... }), and write first: "
             "runtime::Job job(world, {.directory = ...});"));
}

void Job::agree(const std::function<void()>& attempt) const {
  collectives::agree(communicator(), attempt, options_.explain);
}

void Job::fail_together() const {
  throw collectives::AgreedFailure(options_.explain(std::current_exception()));
}

void Job::take_record() {
  if (!opened_.resume) return;
  const std::string text = joined_pieces(opened_.resume->checkpoint.context, record_entry);
  if (text.empty()) {
    throw data::ContentError(opened_.resume->file +
                             ": the checkpoint of a run, not of a job; choose another directory");
  }
  JobRecord record = job_record(text);
  progress_ = JobProgress(record.done);
  accumulators_ = AccumulatorStates(std::move(record.accumulators));
  cursors_ = std::move(record.loaders);
  restarts_ = record.restarts + 1;
}

void Job::require_beginning(const std::string& what) const {
  if (!has_begun() && !progress_.is_in_loop()) return;
  throw std::logic_error(what + ": the job has begun; make it before the job's first loop");
}

void Job::add(AdaptiveDataParallel& model) {
  require_beginning("AdaptiveDataParallel");
  if (model_ != nullptr) throw std::logic_error("AdaptiveDataParallel: a job has one model");
  model_ = &model;
}

void Job::add(AdaptiveDataLoader& loader) {
  require_beginning("AdaptiveDataLoader");
  loaders_.push_back(&loader);
  if (loaders_.size() <= cursors_.size()) loader.go_on_from(cursors_[loaders_.size() - 1]);
}

void Job::remove(const AdaptiveDataParallel&) noexcept { model_ = nullptr; }

// The others keep their numbers.
void Job::remove(const AdaptiveDataLoader& loader) noexcept {
  if (&loader == trained_loader()) last_cursor_ = loader.cursor();
  for (AdaptiveDataLoader*& one : loaders_) {
    if (one == &loader) one = nullptr;
  }
}

// The one that chooses its batch sizes, or else the first one made.
AdaptiveDataLoader* Job::trained_loader() const noexcept {
  for (AdaptiveDataLoader* one : loaders_) {
    if (one != nullptr && one->is_autoscaled()) return one;
  }
  return loaders_.empty() ? nullptr : loaders_.front();
}

void Job::begin() {
  if (has_begun()) return;
  AdaptiveDataLoader* const trained = trained_loader();
  agree([&] {
    if (model_ != nullptr && trained == nullptr) {
      throw std::logic_error(
          "AdaptiveDataParallel: there is no loader to train on; make an AdaptiveDataLoader before "
          "the first loop or checkpoint");
    }
    for (AdaptiveDataLoader* one : loaders_) {
      if (one != nullptr) one->prepare(one == trained);
    }
    if (model_ != nullptr) model_->prepare(*trained);
    identity_ = job_identity(*this, loaders_);
  });
  collectives::require_same(communicator(), named_values(identity_));
  if (model_ != nullptr) model_->assemble();
  facts_ = job_facts(*this);
  if (opened_.resume) go_on();
  if (model_ != nullptr) model_->try_minibatches();
  agree([&] {
    RunOutput::Record record{.fill = [this](Checkpoint& to) { fill(to); }, .resume_command = ""};
    if (trained != nullptr) record.decisions = trained->decisions();
    const auto logs = communicator().rank() == 0 ? options_.logs : std::vector<RunLog*>();
    output_.emplace(run_, opened_.directory.get(), logs, facts_, record,
                    data::BatchTrace::constant(1));
    output_->begin(cursor());
  });
  if (!opened_.resume) write_checkpoint_now(Level::loop);
}

// What the checkpoint says of loaders and accumulators they have taken already.
void Job::go_on() {
  const Checkpoint& checkpoint = opened_.resume->checkpoint;
  agree([&] {
    require_same_run(checkpoint.identity, identity_, run_.accepts_other_kernels);
    if (model_ != nullptr) require_fit(checkpoint.state, model_->parts());
    for (AdaptiveDataLoader* one : loaders_) {
      if (one != nullptr) one->restore(checkpoint);
    }
  });
  if (model_ != nullptr) restore_state(checkpoint.state, topology_, model_->parts());
  facts_.start = cursor();
  facts_.resumed_from = opened_.resume->file;
  facts_.warnings = opened_.resume->skipped;
}

data::Cursor Job::cursor() const {
  const AdaptiveDataLoader* loader = trained_loader();
  return loader == nullptr ? last_cursor_ : loader->cursor();
}

void Job::fill(Checkpoint& checkpoint) const {
  if (model_ != nullptr) {
    copy_state(model_->parts(), checkpoint.state);
  } else {
    checkpoint.state.seed = options_.seed;
    checkpoint.state.cursor = cursor();
  }
  checkpoint.identity = identity_;
  JobRecord record{restarts_, progress_.done(), {}, accumulators_.records()};
  for (const AdaptiveDataLoader* one : loaders_) {
    record.loaders.push_back(one == nullptr ? data::Cursor() : one->cursor());
    if (one != nullptr) one->add_entries(checkpoint.context);
  }
  append_in_pieces(record_entry, text_of(record), checkpoint.context);
}

TrainingState Job::state() {
  begin();
  Checkpoint checkpoint;
  fill(checkpoint);
  return std::move(checkpoint.state);
}

std::uint64_t Job::wish(const data::Cursor& after) const {
  const StopCause cause = stop_wish_.wish();
  Wish wish = output_->is_checkpoint_due(after) ? Wish::checkpoint : Wish::none;
  if (cause == StopCause::time) wish = Wish::time;
  if (cause == StopCause::signal) wish = Wish::signal;
  return static_cast<std::uint64_t>(wish);
}

void Job::at_boundary(std::optional<std::uint64_t> wishes) {
  if (!wishes) {
    std::array<std::int64_t, 1> largest{static_cast<std::int64_t>(wish(cursor()))};
    communicator().maximum(largest);
    wishes = static_cast<std::uint64_t>(largest[0]);
  }
  const Wish asked = std::exchange(asked_, Wish::none);
  const Wish wish = std::max(asked, Wish{*wishes});
  if (wish > Wish::checkpoint) stop_because(wish);
  if (asked == Wish::checkpoint) {
    write_checkpoint_now(Level::loop);
  } else if (wish == Wish::checkpoint) {
    accumulators_.settle(communicator(), Level::loop);
    const bool is_sound = model_ == nullptr || has_finite_weights(model_->parts().replica);
    if (is_sound) output_->checkpoint(cursor());
  }
}

void Job::checkpoint() {
  begin();
  if (progress_.is_in_loop()) {
    asked_ = std::max(asked_, Wish::checkpoint);
  } else {
    write_checkpoint_now(progress_.level());
  }
}

void Job::stop() {
  begin();
  asked_ = Wish::program;
  if (!progress_.is_in_loop()) at_boundary(0);
}

// What accumulators have been given up to this level goes into it.
void Job::write_checkpoint_now(Level level) {
  accumulators_.settle(communicator(), level);
  if (model_ != nullptr) {
    try {
      const Replica& replica = model_->parts().replica;
      require_finite_weights(replica, topology_, cursor().update);
      require_same_weights(replica, topology_, cursor().update);
    } catch (const RunError&) {
      fail_together();
    }
  }
  agree([this] { output_->checkpoint_now(cursor()); });
}

void Job::stop_because(Wish wish) {
  write_checkpoint_now(Level::loop);
  const std::string by =
      wish == Wish::program
          ? "the program"
          : stop_wish_.name_of(wish == Wish::time ? StopCause::time : StopCause::signal);
  const std::string sentence = "stopped by " + by;
  agree([&] {
    output_->end({.reason = sentence, .was_stopped = true, .updates = cursor().update}, cursor());
  });
  has_stopped_ = true;
  throw JobStopped(sentence + " after update " + std::to_string(cursor().update) +
                   "; run the program again to go on");
}

void Job::end_epoch() noexcept {
  progress_.end_epoch();
  accumulators_.end_epoch();
}

void Job::finish_epochs() {
  begin();
  write_checkpoint_now(Level::loop);
}

}  // namespace rubato::runtime
