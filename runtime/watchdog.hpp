// A thread in every rank that notices when the run no longer moves, and says who holds it up.
//
// It looks at the heartbeats of the ranks of its node four times a second. After the warning time
// it tells one sentence, once per standstill; after the hang timeout it tells it again and ends.
// The lowest rank of the node whose watchdog lives speaks for all; a host that sees only waiting
// speaks a second later, so that the culprit's own host comes first. A run that moves, but is held
// up by one slow rank of a node, is told as well.
//
// While a rank is still starting, only a stopped or dead process counts: reading data may take
// long. Time counts only while this process sees it pass: one that was stopped and continued does
// not take the others for stuck.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "collectives/topology.hpp"
#include "runtime/hang_diagnosis.hpp"
#include "runtime/heartbeat.hpp"

namespace rubato::runtime {

struct WatchdogOptions {
  double warning_seconds = 60;        // at most half of the hang timeout counts
  double hang_timeout_seconds = 600;  // 0: never ends
  // Called from the watchdog's thread; they must not throw. on_hang should end the process: it gets
  // the sentence, or an empty one where another rank speaks (half a second later, in case that one
  // could not end the job). The watchdog does nothing more after it.
  std::function<void(const std::string& sentence)> on_warning = {};
  std::function<void(const std::string& sentence)> on_hang = {};
  // One rank computes much slower than the others here (straggler.hpp); never where they are more
  // than the cores.
  std::function<void(const std::string& sentence)> on_straggler = {};
};

class Watchdog {
 public:
  // The heartbeat must outlive it. Not collective.
  Watchdog(Heartbeat& heartbeat, const collectives::Topology& topology, WatchdogOptions options);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() = default;  // stops the thread at once

 private:
  std::jthread thread_;
};

}  // namespace rubato::runtime
