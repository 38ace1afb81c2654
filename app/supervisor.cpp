// See supervisor.hpp.
#include "app/supervisor.hpp"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "app/failure.hpp"
#include "app/run_progress.hpp"

namespace rubato::app {
namespace {

using namespace std::chrono_literals;
using Action = RestartDecision::Action;

constexpr auto capacity_interval = 100ms;  // at the capacity

// At most 30 years, which for ever can be: added to a time, more would not fit into its bits.
SettledValue::Clock::duration as_duration(std::chrono::duration<double> seconds) {
  constexpr std::chrono::duration<double> longest{1e9};
  return std::chrono::duration_cast<SettledValue::Clock::duration>(std::min(seconds, longest));
}

std::string in_seconds(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

}  // namespace

Supervisor::Supervisor(LaunchPlan plan, std::unique_ptr<CapacitySource> capacity,
                       StopSignals& signals, LaunchEvents& events)
    : plan_(std::move(plan)),
      capacity_(std::move(capacity)),
      signals_(signals),
      events_(events),
      policy_(plan_.most_failures, plan_.backoff_seconds, plan_.stopped_code),
      settled_ranks_(as_duration(plan_.settle_time)) {}

int Supervisor::run() {
  while (pause_while_short()) {
    const JobEnd end = supervise(ranks_);
    if (signals_.wants_kill() && end.exit_code != exit_done) break;
    // Killed, as it did not stop: no failure of its own that counts.
    if (!end.has_ended_alone && end.exit_code != exit_done) continue;
    const auto decision = policy_.after(end.exit_code, last_update(plan_.directory));
    if (decision.action == Action::finish) {
      events_.add(event("finish", ""));
      return exit_done;
    }
    if (decision.action == Action::give_up) return give_up(end, decision.reason);
    if (decision.action == Action::restart) {
      auto failure = event("failure", decision.reason);
      failure.exit_code = end.exit_code;
      failure.delay_seconds = decision.delay_seconds;
      events_.add(failure);
      next_event_ = "restart";
      next_reason_ = "after " + decision.reason;
      if (!wait(Clock::now() +
                as_duration(std::chrono::duration<double>(decision.delay_seconds)))) {
        break;
      }
    } else if (!was_asked_ && !signals_.wants_stop()) {
      return stop("the job was " +
                  stop_reason(plan_.directory).value_or("asked to stop by somebody else"));
    }
  }
  return stop(signals_.first() + (signals_.wants_kill() ? " twice: the job was killed" : ""));
}

// Reads the signals and the capacity.
void Supervisor::look() {
  signals_.look();
  devices_ = capacity_->devices_now();
  auto ranks = ranks_for(devices_, capacity_->largest(), plan_.limits);
  if (plan_.usable_ranks) ranks = plan_.usable_ranks(ranks);
  ranks_ = settled_ranks_.see(ranks, Clock::now());
  if (const auto warning = capacity_->take_warning()) events_.say("warning: " + *warning);
}

// Looks around until then. False as soon as a signal says stop.
bool Supervisor::wait(Clock::time_point until) {
  for (look(); !signals_.wants_stop(); look()) {
    const auto left = until - Clock::now();
    if (left <= 0s) return true;
    const auto time = std::min<Clock::duration>(left, capacity_interval);
    pollfd entry{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count()));
  }
  return false;
}

// Until there are devices for the fewest ranks. False as soon as a signal says stop.
bool Supervisor::pause_while_short() {
  if (!wait(Clock::now())) return false;
  if (ranks_ > 0) return true;
  job_ranks_ = 0;
  events_.add(event("pause", "too few devices for " + std::to_string(plan_.limits.least) +
                                 (plan_.limits.least == 1 ? " rank" : " ranks")));
  next_event_ = "continue";
  next_reason_ = "devices are back";
  while (ranks_ == 0) {
    if (!wait(Clock::now() + capacity_interval)) return false;
  }
  return true;
}

// One job from its start to its end.
JobEnd Supervisor::supervise(std::uint64_t ranks) {
  job_ranks_ = ranks;
  was_asked_ = false;
  events_.add(event(std::exchange(next_event_, "continue"), std::exchange(next_reason_, "")));
  MpiJob job({.launcher = plan_.launcher,
              .ranks = ranks,
              .command = plan_.command,
              .stops_by_usr1 = true,
              .is_ending = end_notice(plan_.directory)});
  while (true) {
    if (const auto end = job.wait_for(capacity_interval, signals_.descriptor())) return *end;
    look();
    if (signals_.wants_kill()) return job.kill();
    if (!was_asked_) ask_to_stop(job, ranks);
    if (!is_grace_over()) continue;
    events_.add(event("kill", "it has not stopped within " + in_seconds(plan_.stop_grace.count())));
    return job.kill();
  }
}

// If there is a reason to.
void Supervisor::ask_to_stop(MpiJob& job, std::uint64_t ranks) {
  if (signals_.wants_stop()) {
    events_.say(signals_.first() + ": the job stops after this update");
  } else if (ranks_ != ranks) {
    const auto change =
        std::to_string(ranks) + " -> " + std::to_string(ranks_) + " ranks, the job stops";
    if (ranks_ > 0) {
      auto rescale = event("rescale", change);
      rescale.ranks = ranks_;
      events_.add(rescale);
    } else {
      events_.say("too few devices: the job stops");
    }
    next_reason_ = "rescaled from " + std::to_string(ranks);
  } else {
    return;
  }
  was_asked_ = true;
  grace_end_ = Clock::now() + as_duration(plan_.stop_grace);
  job.request_stop();
}

bool Supervisor::is_grace_over() const { return was_asked_ && Clock::now() >= grace_end_; }

int Supervisor::stop(const std::string& reason) {
  auto last = event("stop", reason);
  last.exit_code = plan_.stopped_code;
  events_.add(last);
  events_.say("the same command goes on from there");
  return plan_.stopped_code;
}

int Supervisor::give_up(const JobEnd& end, const std::string& reason) {
  auto last = event("failure", reason);
  last.exit_code = end.exit_code;
  events_.add(last);
  last.name = "stop";
  last.reason = "given up: " + reason;
  events_.add(last);
  return end.exit_code;
}

LaunchEvent Supervisor::event(std::string name, std::string reason) const {
  return {.name = std::move(name),
          .ranks = job_ranks_,
          .update = last_update(plan_.directory),
          .capacity = devices_,
          .reason = std::move(reason)};
}

}  // namespace rubato::app
