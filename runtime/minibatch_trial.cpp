// Each size once without counting, since that makes its kernels and touches its memory first; then
// the two in turn, so that a machine that is busy for a while slows both, and the median of their
// differences.
#include "runtime/minibatch_trial.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "runtime/straggler.hpp"

namespace rubato::runtime {

double seconds_per_sample(const collectives::Communicator& ranks, std::uint64_t fewer,
                          std::uint64_t more,
                          const std::function<double(std::uint64_t)>& seconds_of) {
  constexpr std::size_t most_rounds = 5;
  constexpr double enough_seconds = 0.5;
  seconds_of(fewer);
  seconds_of(more);
  ranks.barrier();
  std::vector<double> differences;
  for (double spent = 0; differences.size() < most_rounds && spent < enough_seconds;) {
    const double shorter = seconds_of(fewer);
    const double longer = seconds_of(more);
    differences.push_back(longer - shorter);
    spent += shorter + longer;
  }
  std::array<double, 1> difference{lower_median(std::move(differences))};
  ranks.sum(difference);
  const auto samples = static_cast<double>(ranks.size() * (more - fewer));
  return std::max(difference[0] / samples, 0.0);
}

}  // namespace rubato::runtime
