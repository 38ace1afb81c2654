// The header's formulas. "Nothing" and "no further rank" are 1e-8, as in the reference
// implementation (petuum/adaptdl, goodput.py), whose numbers these are. A share of less than one
// substep, of a fast rank, is all last.
#include "optim/performance_model.hpp"

#include <algorithm>
#include <cmath>

namespace rubato::optim {
namespace {

double exchange_seconds(const PerformanceParameters& parameters, const UpdateWork& work) {
  const double beyond = ranks_beyond_two(work);
  if (work.ranks <= 1) return smallest_seconds + smallest_seconds * beyond;
  if (work.hosts <= 1) {
    return parameters.within_host_base + parameters.within_host_per_rank * beyond;
  }
  return parameters.between_hosts_base + parameters.between_hosts_per_rank * beyond;
}

// (a^overlap + b^overlap)^(1/overlap), divided by the larger first: no power overflows.
double overlapped(double a, double b, double overlap) {
  const auto [shorter, longer] = std::minmax(a, b);
  return longer * std::pow(1 + std::pow(shorter / longer, overlap), 1 / overlap);
}

}  // namespace

double ranks_beyond_two(const UpdateWork& work) {
  constexpr double none = 1e-8;
  return std::max(static_cast<double>(work.ranks) - 2, none);
}

UpdateTime predict(const PerformanceParameters& parameters, const UpdateWork& work) {
  UpdateTime time;
  time.substep_seconds = parameters.substep_base + parameters.substep_per_sample * work.minibatch;
  time.exchange_seconds = exchange_seconds(parameters, work);
  const double last_substep = std::min(work.substeps, 1.0);
  time.last_seconds =
      overlapped(last_substep * time.substep_seconds, time.exchange_seconds, parameters.overlap);
  time.update_seconds = (work.substeps - last_substep) * time.substep_seconds + time.last_seconds;
  return time;
}

}  // namespace rubato::optim
