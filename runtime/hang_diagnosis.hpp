// Of ranks that do not move: which one do the others wait for?
//
// Any whose process is stopped or dead; else, of those in the earliest update, the least advanced
// one that does not wait for others, in the sum or after the update. If all of this node do, the
// cause is on another host.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/heartbeat.hpp"

namespace rubato::runtime {

struct RankSight {
  std::size_t rank = 0;
  pid_t pid = 0;
  std::uint64_t update = 0;
  Phase phase = Phase::starting;
  double idle_seconds = 0;   // since it was last seen to move
  char process_state = '?';  // as process_info() says it; '?': not known
};

struct NodeSight {
  std::string host;
  std::vector<std::string> other_hosts;
  std::vector<RankSight> ranks;  // of this host; at least one
};

struct Suspicion {
  double seconds = 0;         // that who is to blame has not moved
  bool is_elsewhere = false;  // on a host of which this one sees nothing
  std::string sentence;       // names rank, host, what it was doing, how long
};

bool cannot_move(const RankSight& sight);  // its process is stopped or dead

Suspicion hang_suspicion(const NodeSight& node);

}  // namespace rubato::runtime
