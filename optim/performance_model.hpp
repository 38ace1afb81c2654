// How long an update takes: the throughput model of Pollux, Qiao et al. 2021, arXiv:2008.12260,
// section 3.2, with its seven parameters in seconds (overlap: a bare number).
//
//   substep  = substep_base + substep_per_sample * minibatch
//   exchange = nothing on one rank, else base + per_rank * (ranks - 2), with one pair of parameters
//              where all ranks share a host and one where they do not
//   last     = (substep^overlap + exchange^overlap)^(1/overlap)
//   update   = (substeps - 1) * substep + last
//
// The exchange goes on beside the last substep: at overlap 1 one follows the other, at 10 the
// longer hides the shorter. What the model does not know: memory that runs out, and kernels whose
// time is not linear in the minibatch.
#pragma once

#include <cstddef>

namespace rubato::optim {

// As small as a time or a parameter gets, in place of 0: the fit takes logarithms.
constexpr double smallest_seconds = 1e-8;

struct PerformanceParameters {
  double substep_base = smallest_seconds;
  double substep_per_sample = smallest_seconds;
  double between_hosts_base = smallest_seconds;
  double between_hosts_per_rank = smallest_seconds;
  double within_host_base = smallest_seconds;
  double within_host_per_rank = smallest_seconds;
  double overlap = 1;  // from 1 to 10
  bool operator==(const PerformanceParameters&) const = default;
};

// An update as far as its time depends on it.
struct UpdateWork {
  std::size_t hosts = 1;
  std::size_t ranks = 1;
  double minibatch = 1;  // samples of a substep
  double substeps = 1;   // of the rank that takes longest (longest_share.hpp), so not always whole
  bool operator==(const UpdateWork&) const = default;
};

struct UpdateTime {
  double substep_seconds = 0;
  double exchange_seconds = 0;
  double last_seconds = 0;  // of the last substep and the exchange together
  double update_seconds = 0;
};

UpdateTime predict(const PerformanceParameters& parameters, const UpdateWork& work);

// What the per-rank parameters are multiplied by.
double ranks_beyond_two(const UpdateWork& work);

}  // namespace rubato::optim
