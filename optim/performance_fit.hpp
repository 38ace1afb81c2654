// From measured updates to the parameters of the performance model, after Pollux (Qiao et al. 2021,
// arXiv:2008.12260, section 4.1): least squares of the logarithms, so that an error of 5 % counts
// the same for short and long times.
//
// What the profile cannot tell is not left to chance:
//
//   one minibatch size only         half of a substep's time does not depend on it, unless it is
//                                   known what a further sample takes
//   never on several ranks          overlap 1
//   never on several ranks of one host, or of several hosts    that exchange takes no time
//   never on more than two of them  nor does a further rank
//
// but an exchange between hosts never seen is taken to be 1.1 times one within a host, and each
// further rank likewise. The more such sentences apply, the less a prediction for other ranks is
// worth; for the ranks of the profile it is not affected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "optim/performance_model.hpp"

namespace rubato::optim {

// Updates of one kind, and the means of their times.
struct Measurement {
  UpdateWork work;
  double substep_seconds = 0;  // of a substep that waits for no other rank; 0: not measured
  double update_seconds = 0;   // of the whole update
  std::uint64_t observations = 1;
  double relevance = 1;  // how much it counts beside others: above 0, to 1
};

// Deterministic; every result is finite and within the model's bounds, whatever is measured.
// Measurements that make no sense are passed over (times that are not from 1 ns to 1e9 s, none of
// something that there is one of at least); nothing if none is left. Leave out a run's first
// update, and the first after a change. `seconds_per_sample`: what a substep takes longer for one
// more sample, 0 or more, for a profile of one minibatch size only.
std::optional<PerformanceParameters> fit(std::span<const Measurement> profile,
                                         std::optional<double> seconds_per_sample = {});

}  // namespace rubato::optim
