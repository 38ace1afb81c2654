// See adaptive_batch.hpp. The state goes into a checkpoint's context: a replay has none, and its
// state must have the same digest.
#include "runtime/adaptive_batch.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <utility>

#include "data/errors.hpp"
#include "optim/goodput.hpp"
#include "runtime/minibatch_trial.hpp"
#include "runtime/seconds_since.hpp"
#include "runtime/text_pieces.hpp"

namespace rubato::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t first_decision = 32;  // updates
// From one decision to the next: the first one is not measured, its data are late.
constexpr std::uint64_t fewest_updates = 8;
constexpr const char* profile_entry = "profile";
constexpr const char* decisions_entry = "decisions";

std::string plural(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string describe(std::size_t hosts, std::size_t ranks) {
  return plural(ranks, "rank") + " on " + plural(hosts, "host");
}

std::string reason_for(double gain) {
  return std::to_string(std::lround(100 * (gain - 1))) + " % better";
}

}  // namespace

AdaptiveBatch::AdaptiveBatch(const RunOptions& options, const optim::BatchLimits& limits,
                             const collectives::Topology& topology, double reference_batch)
    : topology_(topology),
      budget_(options.adaptive->budget),
      noise_factor_(reference_batch / static_cast<double>(limits.initial_batch)),
      advisor_(limits, topology.node_count(), topology.all().size(),
               options.assignment == data::Assignment::balanced) {
  begin_anew();
}

void AdaptiveBatch::begin_anew() {
  decisions_ = {};
  decisions_.add(line_of({.configuration = advisor_.initial(),
                          .hosts = topology_.node_count(),
                          .ranks = topology_.all().size(),
                          .reason = "initial"}));
  note_ranks();
  follow_trace();
}

void AdaptiveBatch::note_ranks() {
  hosts_ = topology_.node_count();
  ranks_ = topology_.all().size();
}

void AdaptiveBatch::follow_trace() {
  const data::BatchTrace trace = decisions_.trace();
  const data::TraceRow row = trace.row(trace.rows() - 1);
  current_ = {row.minibatch, 1, row.batch_size};
  const std::size_t ranks = topology_.all().size();
  current_.substeps = (optim::minibatches_of(current_) + ranks - 1) / ranks;
}

std::uint64_t AdaptiveBatch::largest_minibatch() const {
  return runtime::largest_minibatch(advisor_.limits(), topology_.all().size());
}

void AdaptiveBatch::try_minibatches(const std::function<double(std::uint64_t)>& seconds_of) {
  const auto sizes = advisor_.sizes_to_try(current_.minibatch);
  if (!sizes) return;
  advisor_.know_seconds_per_sample(
      seconds_per_sample(topology_.all(), sizes->first, sizes->second, seconds_of));
}

bool AdaptiveBatch::is_decision_due(const data::PlannedUpdate& update) const {
  const std::uint64_t done = update.end.update;
  return (update.ends_epoch && updates_since_ + 1 >= fewest_updates) ||
         (done >= first_decision && (done & (done - 1)) == 0);
}

// At the initial batch, of averages at the optimizer's reference batch.
optim::NoiseLevel AdaptiveBatch::level(double variance, double square) const {
  return {variance * noise_factor_, square};
}

void AdaptiveBatch::observe(const data::PlannedUpdate& update, StepReport& report) {
  const auto batch = static_cast<double>(update.batch_size);
  report.predicted_goodput = predicted_goodput_;
  report.goodput =
      batch / report.seconds *
      optim::statistical_efficiency(level(report.gradient_variance, report.gradient_square),
                                    static_cast<double>(advisor_.limits().initial_batch), batch);
  ++updates_since_;
  seconds_since_ += report.seconds;
  const bool tells = !skips_next_ && !report.was_repeated && report.skipped.empty();
  skips_next_ = false;
  if (tells) advisor_.observe(update, current_, report.rank_times, report.seconds);
}

bool AdaptiveBatch::decide(const data::Cursor& cursor, std::optional<std::uint64_t> room,
                           const optim::GradientNoise& noise, const std::string& besides) {
  skips_next_ = true;
  updates_since_ = 0;
  report_.reset();
  std::string line;
  const bool is_worth_it = needs_decision() || seconds_since_ * budget_ >= decision_seconds_;
  if (topology_.all().rank() == 0 && is_worth_it) {
    const Clock::time_point start = Clock::now();
    line = consider(cursor, room, noise);
    decision_seconds_ = seconds_since(start);
    seconds_since_ = 0;
    if (report_) report_->seconds = decision_seconds_;
    if (!line.empty() && !besides.empty()) {
      report_->decision.reason += "; " + besides;
      line = line_of(report_->decision);
    }
  }
  line = topology_.all().broadcast(line, 0);
  must_decide_because_.clear();
  note_ranks();
  if (line.empty()) return false;
  decisions_.add(line);
  follow_trace();
  return true;
}

void AdaptiveBatch::decide(const data::Cursor& cursor, std::optional<data::TracePlan>& plan,
                           const optim::GradientNoise& noise, const std::string& besides) {
  std::optional<std::uint64_t> room;
  if (plan->options().epoch_end == data::EpochEnd::drop) {
    room = plan->epoch_samples() - cursor.position;
  }
  if (decide(cursor, room, noise, besides)) plan = data::TracePlan(trace(), plan->options());
}

DecisionReport AdaptiveBatch::begin_epoch(const data::Cursor& cursor,
                                          std::optional<data::TracePlan>& plan,
                                          const std::string& reason) {
  const BatchDecision decision{.update = cursor.update,
                               .epoch = cursor.epoch,
                               .configuration = current_,
                               .hosts = topology_.node_count(),
                               .ranks = topology_.all().size(),
                               .reason = reason};
  decisions_.add(line_of(decision));
  plan = data::TracePlan(trace(), plan->options());
  return {decision, /*changes=*/true, 0};
}

// The line to be added to the decisions, or none.
std::string AdaptiveBatch::consider(const data::Cursor& cursor, std::optional<std::uint64_t> room,
                                    const optim::GradientNoise& noise) {
  const auto advice = advisor_.advise(level(noise.variance(), noise.square()), current_);
  const bool may_stay = optim::is_within(advisor_.limits(), topology_.all().size(), current_);
  if (!advice && may_stay) return {};
  BatchDecision decision{
      .update = cursor.update,
      .epoch = cursor.epoch,
      .configuration = advice ? advice->choice.configuration : advisor_.initial(),
      .hosts = topology_.node_count(),
      .ranks = topology_.all().size(),
      .predicted_goodput = advice ? advice->choice.goodput : 0,
      .current_goodput = advice ? advice->current_goodput : 0,
      .noise_scale = noise.noise_scale(),
      .reason = must_decide_because_};
  const bool changes = !(decision.configuration == current_);
  const bool fits = !room || decision.configuration.batch <= *room;
  if (changes && !fits && may_stay) return {};
  if (!fits) ++decision.epoch;
  if (decision.reason.empty()) {
    decision.reason =
        changes ? reason_for(decision.predicted_goodput / decision.current_goodput) : "kept";
  }
  predicted_goodput_ = decision.predicted_goodput;
  report_ = DecisionReport{decision, changes, 0};
  return changes ? line_of(decision) : std::string();
}

std::optional<DecisionReport> AdaptiveBatch::take_report() {
  return std::exchange(report_, std::nullopt);
}

std::vector<ContextEntry> AdaptiveBatch::entries() const {
  std::ostringstream profile;
  profile << hosts_ << ' ' << ranks_ << '\n' << advisor_.settled_profile().text();
  std::vector<ContextEntry> entries{{profile_entry, profile.str()}};
  append_in_pieces(decisions_entry, decisions_.text(), entries);
  return entries;
}

void AdaptiveBatch::restore(const Checkpoint& checkpoint) {
  const std::string text = joined_pieces(checkpoint.context, decisions_entry);
  if (text.empty()) throw data::ContentError("the checkpoint has no decisions of an adaptive run");
  decisions_.restore(text, "the checkpoint's decisions");
  follow_trace();
  const std::string profile = joined_pieces(checkpoint.context, profile_entry);
  if (profile.empty()) return;
  std::istringstream words(profile);
  words >> hosts_ >> ranks_;
  const std::size_t begin = std::min(profile.find('\n'), profile.size() - 1) + 1;
  advisor_.profile().restore(profile.substr(begin));
  const std::string before = describe(hosts_, ranks_);
  const std::string now = describe(topology_.node_count(), topology_.all().size());
  const bool may_stay = optim::is_within(advisor_.limits(), topology_.all().size(), current_);
  if (before == now && may_stay) return;
  must_decide_because_ = before == now ? "other limits" : now + " instead of " + before;
  const std::uint64_t done = checkpoint.state.cursor.update;
  if (done == 0) return begin_anew();
  decisions_.forget_from(done);
  follow_trace();
}

}  // namespace rubato::runtime
