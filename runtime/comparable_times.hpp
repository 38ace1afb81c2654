// Times of updates on different numbers of ranks, made comparable.
//
// The performance model says that a substep takes as long on any number of ranks. Where ranks share
// cores, or memory, it takes longer the more there are. So times are told in substeps of the ranks
// that matter: if those elsewhere took twice as long for a substep, their updates count as having
// had twice as many. And they count less: they are there for what those that matter have not tried.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "optim/performance_fit.hpp"

namespace rubato::runtime {

// The profile as if all of its ranks were as fast as those of so many hosts and ranks, or, where it
// has none of these, as fast as those that most of its updates ran on. `seconds_per_sample`: as for
// optim::fit().
std::vector<optim::Measurement> comparable_times(std::vector<optim::Measurement> profile,
                                                 std::size_t hosts, std::size_t ranks,
                                                 std::optional<double> seconds_per_sample = {});

}  // namespace rubato::runtime
