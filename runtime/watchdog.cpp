// The process states of other ranks are looked up only once somebody is late.
#include "runtime/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iomanip>
#include <mutex>
#include <sstream>
#include <utility>
#include <vector>

#include "runtime/process_info.hpp"
#include "runtime/signals_blocked.hpp"
#include "runtime/straggler.hpp"

namespace rubato::runtime {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval{250};
constexpr double longest_step = 1;    // seconds that may count between two looks
constexpr double silence = 2;         // after which a watchdog is taken for dead
constexpr double second_voice = 0.5;  // how much later a rank ends that does not speak
constexpr double other_host = 1;      // how much later a host ends that sees only waiting

// A count, and when it was last seen to change.
struct Seen {
  std::uint64_t count = 0;
  double time = 0;

  void look(std::uint64_t now_count, double now) {
    if (std::exchange(count, now_count) != now_count) time = now;
  }
};

// As many significant digits, without zeros at the end.
std::string decimal(double value, int digits) {
  std::ostringstream text;
  text << std::setprecision(digits) << value;
  return text.str();
}

char state_of(pid_t pid) {
  const auto info = process_info(pid);
  return info ? info->state : '?';  // gone, or a process of another container
}

class Watch {
 public:
  Watch(Heartbeat& heartbeat, const collectives::Topology& topology, WatchdogOptions options)
      : heartbeat_(heartbeat),
        options_(std::move(options)),
        pulses_(heartbeat.ranks()),
        moves_(heartbeat.ranks()),
        watchdogs_(heartbeat.ranks()) {
    const std::vector<std::string>& hosts = topology.hosts();
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (i != topology.node_index()) node_.other_hosts.push_back(hosts[i]);
    }
    node_.host = hosts[topology.node_index()];
    node_.ranks.resize(heartbeat.ranks());
    if (ends()) {
      options_.warning_seconds =
          std::min(options_.warning_seconds, options_.hang_timeout_seconds / 2);
    }
    // A rank's time then tells what the others did on its core.
    if (topology.is_oversubscribed()) options_.on_straggler = {};
  }

  void run(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested() && !has_ended_) {
      look();
      judge();
      find_straggler();
      wake.wait_for(lock, stop, interval, [] { return false; });
    }
  }

 private:
  bool ends() const { return options_.hang_timeout_seconds > 0; }

  void look() {
    const Clock::time_point now = Clock::now();
    const std::chrono::duration<double> step = now - std::exchange(last_look_, now);
    time_ += std::min(step.count(), longest_step);
    heartbeat_.tick();
    for (std::size_t i = 0; i < node_.ranks.size(); ++i) {
      const Pulse& pulse = pulses_[i] = heartbeat_.pulse(i);
      moves_[i].look(pulse.beats, time_);
      watchdogs_[i].look(pulse.watch_ticks, time_);
      node_.ranks[i] = {.rank = heartbeat_.rank(i),
                        .pid = heartbeat_.pid(i),
                        .update = pulse.update,
                        .phase = pulse.phase,
                        .idle_seconds = time_ - moves_[i].time};
    }
  }

  void judge() {
    const double longest = std::ranges::max(node_.ranks, {}, &RankSight::idle_seconds).idle_seconds;
    if (longest < options_.warning_seconds) {
      has_warned_ = false;
      return;
    }
    for (RankSight& sight : node_.ranks) sight.process_state = state_of(sight.pid);
    if (is_starting() && std::ranges::none_of(node_.ranks, cannot_move)) return;
    const Suspicion suspicion = hang_suspicion(node_);
    if (suspicion.seconds >= options_.warning_seconds) warn(suspicion);
    if (ends()) end(suspicion);
  }

  // Reading and checking data may take as long as it likes.
  bool is_starting() const {
    return std::ranges::any_of(
        node_.ranks, [](const RankSight& sight) { return sight.phase == Phase::starting; });
  }

  void warn(const Suspicion& suspicion) {
    if (has_warned_ || !speaks()) return;
    has_warned_ = true;
    if (options_.on_warning) options_.on_warning(suspicion.sentence);
  }

  void end(const Suspicion& suspicion) {
    const bool speaks_for_all = speaks();
    const double limit = options_.hang_timeout_seconds + (speaks_for_all ? 0 : second_voice) +
                         (suspicion.is_elsewhere ? other_host : 0);
    if (suspicion.seconds < limit) return;
    has_ended_ = true;
    if (!options_.on_hang) return;
    options_.on_hang(speaks_for_all
                         ? suspicion.sentence + "; the run ends, because its hang timeout is " +
                               decimal(options_.hang_timeout_seconds, 6) + " s"
                         : std::string());
  }

  void find_straggler() {
    const auto straggler = stragglers_.look(pulses_, time_);
    if (!straggler || !options_.on_straggler || !speaks()) return;
    options_.on_straggler("rank " + std::to_string(heartbeat_.rank(straggler->node_rank)) + " on " +
                          node_.host + " computes " + decimal(straggler->ratio, 2) +
                          " times as long as the others there (median, last " +
                          std::to_string(straggler->updates) + " updates)");
  }

  // Whether no rank of the node that is lower than this one can speak.
  bool speaks() const {
    const double dead = ends() ? std::min(silence, options_.hang_timeout_seconds / 2) : silence;
    for (std::size_t i = 0; i < heartbeat_.node_rank(); ++i) {
      if (time_ - watchdogs_[i].time < dead) return false;
    }
    return true;
  }

  Heartbeat& heartbeat_;
  WatchdogOptions options_;
  NodeSight node_;
  std::vector<Pulse> pulses_;
  std::vector<Seen> moves_;
  std::vector<Seen> watchdogs_;
  StragglerSearch stragglers_;
  Clock::time_point last_look_ = Clock::now();
  double time_ = 0;  // seconds that this process has seen pass
  bool has_warned_ = false;
  bool has_ended_ = false;
};

std::jthread start_without_signals(auto body) {
  const SignalsBlocked for_the_thread;
  return std::jthread(std::move(body));
}

}  // namespace

Watchdog::Watchdog(Heartbeat& heartbeat, const collectives::Topology& topology,
                   WatchdogOptions options)
    : thread_(
          start_without_signals([watch = Watch(heartbeat, topology, std::move(options))](
                                    const std::stop_token& stop) mutable { watch.run(stop); })) {}

}  // namespace rubato::runtime
