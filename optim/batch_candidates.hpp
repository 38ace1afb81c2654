// The batch sizes that an adaptive run may choose from, and how each is cut: what Pollux searches
// (Qiao et al. 2021, arXiv:2008.12260, section 4.1), but never above a bound.
//
// The minibatch may change: then all ranks have the same number of samples. Or it is fixed: then
// the batch is any whole number of minibatches, which ranks may share unevenly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rubato::optim {

// Samples that one rank computes at once.
struct LocalBounds {
  std::uint64_t lower = 1;
  std::uint64_t upper = 1;
};

struct BatchLimits {
  std::uint64_t initial_batch = 1;  // the batch that rate and efficiency refer to
  // One of the two may be absent; the other one limits the batch then: without a maximum, to one
  // upper bound for each rank.
  std::optional<std::uint64_t> max_batch_size = std::nullopt;
  std::optional<LocalBounds> local_bounds = std::nullopt;
  std::optional<std::uint64_t> fixed_minibatch = std::nullopt;
  bool has_accumulation = true;  // more than one substep for a rank
  bool may_go_below_initial = false;
  // One minibatch an update says nothing of the noise scale, so one rank cuts its batch in two or
  // more. If this is set it may take the initial batch as one; then the noise stays as it is known.
  bool may_be_single_at_initial = false;
};

struct Configuration {
  std::uint64_t minibatch = 1;
  std::uint64_t substeps = 1;  // of the rank that has most
  std::uint64_t batch = 1;     // of all ranks together
  bool operator==(const Configuration&) const = default;
};

// The last one may be short.
std::uint64_t minibatches_of(const Configuration& configuration);

// Throws std::invalid_argument, in one sentence, where no batch is within the limits on so many
// ranks, or a limit makes no sense.
//
// Ascending by batch, without repetition, never empty; about fifty between the smallest and the
// largest, in equal ratios. Each has the fewest substeps that the bounds allow, which is never
// slower where ranks have as many: a further substep takes as long as its share of the last one
// would, and hides no exchange. (By speed, smaller minibatches can be shared better: fix one.)
// Where no equal share is within the limits, the only one is the smallest batch, with a short last
// minibatch.
std::vector<Configuration> batch_candidates(const BatchLimits& limits, std::size_t ranks);

// The smallest candidate that is not below the initial batch: for the time when nothing has been
// measured.
Configuration initial_configuration(const BatchLimits& limits, std::size_t ranks);

// Whether the limits allow a configuration on so many ranks; throws as above.
bool is_within(const BatchLimits& limits, std::size_t ranks, const Configuration& configuration);

}  // namespace rubato::optim
