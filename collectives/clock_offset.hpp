// By how much this host's clock is ahead of rank 0's.
//
// Rank 0 asks the first rank of each host what time it is. The answer was made somewhere between
// question and arrival, and taken for made half way; of 32 tries the one that came back soonest
// counts, and half its round trip bounds the error (Cristian 1989, doi:10.1007/BF01784024).
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/topology.hpp"

namespace rubato::collectives {

struct ClockOffset {
  std::int64_t nanoseconds = 0;  // this host's clock less rank 0's
  std::int64_t uncertainty = 0;  // nanoseconds; 0 on rank 0's own host
};

using NanosecondClock = std::function<std::int64_t()>;
std::int64_t steady_nanoseconds();  // CLOCK_MONOTONIC: begins anywhere, on each host

// Collective over all ranks. All ranks of a node must have the same clock.
ClockOffset clock_offset(const Topology& topology,
                         const NanosecondClock& clock = steady_nanoseconds);

}  // namespace rubato::collectives
