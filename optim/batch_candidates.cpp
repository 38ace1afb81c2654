// Fifty sizes in equal ratios, as in the reference implementation (petuum/adaptdl, goodput.py),
// each rounded up to equal shares; down, where that would be above the maximum. The reference
// rounds up only: 3 ranks and a maximum of 1000 make 1002.
#include "optim/batch_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "optim/option_check.hpp"

namespace rubato::optim {
namespace {

constexpr double largest_number = 1e9;  // of samples and of ranks: no product overflows
constexpr std::uint64_t candidate_count = 50;

std::uint64_t ceil_ratio(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

void require_size(const std::string& what, std::uint64_t size) {
  const auto value = static_cast<double>(size);
  require_value(value >= 1 && value <= largest_number, what, value, "1 to 1e9");
}

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

std::string on_ranks(std::size_t ranks) {
  return " on " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks");
}

void check_numbers(const BatchLimits& limits, std::size_t ranks) {
  require_size("number of ranks", ranks);
  require_size("initial batch", limits.initial_batch);
  if (limits.max_batch_size) require_size("maximum batch size", *limits.max_batch_size);
  if (limits.fixed_minibatch) require_size("minibatch", *limits.fixed_minibatch);
  if (!limits.local_bounds) {
    if (!limits.max_batch_size) {
      refuse("neither a maximum batch size nor local bounds; expected one of them or both");
    }
    return;
  }
  const auto [lower, upper] = *limits.local_bounds;
  require_size("lower local bound", lower);
  require_size("upper local bound", upper);
  if (lower > upper) {
    refuse("lower local bound " + std::to_string(lower) + " is above the upper one, " +
           std::to_string(upper));
  }
  if (limits.fixed_minibatch &&
      (*limits.fixed_minibatch < lower || *limits.fixed_minibatch > upper)) {
    refuse("minibatch is " + std::to_string(*limits.fixed_minibatch) +
           "; expected one within the local bounds, " + std::to_string(lower) + " to " +
           std::to_string(upper));
  }
}

// The limits with every "or absent" resolved.
struct Space {
  std::uint64_t ranks = 1;
  std::uint64_t lower = 1, upper = 1;       // minibatch
  std::uint64_t smallest = 1, largest = 1;  // batch
  std::uint64_t most_substeps = 1;
};

std::uint64_t largest_batch(const BatchLimits& limits, std::size_t ranks) {
  if (limits.max_batch_size) return *limits.max_batch_size;
  return std::max(limits.local_bounds->upper * ranks, limits.initial_batch);
}

// Refuses limits between which there is no room on so many ranks.
void check_room(const BatchLimits& limits, const Space& space) {
  const std::uint64_t initial = limits.initial_batch;
  if (limits.max_batch_size && initial > space.largest) {
    refuse("maximum batch size " + std::to_string(space.largest) + " is below the initial batch, " +
           std::to_string(initial));
  }
  if (space.smallest > space.largest) {
    refuse("minibatches of at least " + std::to_string(space.lower) + on_ranks(space.ranks) +
           " make " + std::to_string(space.lower * space.ranks) +
           " samples an update, above the maximum batch size, " + std::to_string(space.largest));
  }
  if (!limits.has_accumulation && space.upper * space.ranks < space.smallest) {
    refuse("minibatches of at most " + std::to_string(space.upper) + on_ranks(space.ranks) +
           " make at most " + std::to_string(space.upper * space.ranks) +
           " samples an update without accumulation, below the initial batch, " +
           std::to_string(initial));
  }
}

Space space_of(const BatchLimits& limits, std::size_t ranks) {
  check_numbers(limits, ranks);
  Space space;
  space.ranks = ranks;
  space.largest = largest_batch(limits, ranks);
  space.most_substeps = limits.has_accumulation ? space.largest : 1;
  if (limits.fixed_minibatch) {
    space.lower = space.upper = *limits.fixed_minibatch;
  } else if (limits.local_bounds) {
    space.lower = limits.local_bounds->lower;
    space.upper = limits.local_bounds->upper;
  } else {
    space.upper = ceil_ratio(space.largest, ranks);
  }
  // Only where nobody says what a rank has at least, and ranks share unevenly, may one have none.
  const bool may_idle = limits.fixed_minibatch && !limits.local_bounds;
  space.smallest = std::max(limits.may_go_below_initial ? 1 : limits.initial_batch,
                            may_idle ? 1 : space.lower * ranks);
  check_room(limits, space);
  return space;
}

// candidate_count numbers from first to last in equal ratios, both ends exact.
std::vector<double> equal_ratios(double first, double last) {
  std::vector<double> numbers;
  const double ratio = std::log(last / first) / static_cast<double>(candidate_count - 1);
  for (std::uint64_t i = 0; i + 1 < candidate_count; ++i) {
    numbers.push_back(first * std::exp(ratio * static_cast<double>(i)));
  }
  numbers.push_back(last);
  return numbers;
}

std::uint64_t ceiling(double number) {
  constexpr double rounding = 1e-8;  // the reference's
  return static_cast<std::uint64_t>(std::ceil(number - rounding));
}

// Equal shares for about so many samples, in so many substeps or as many as the bounds need; no
// substeps if there are none within the space.
Configuration equal_shares(const Space& space, double samples, std::uint64_t fewest_substeps) {
  const double local = samples / static_cast<double>(space.ranks);
  const std::uint64_t substeps =
      std::min(std::max(ceiling(local / static_cast<double>(space.upper)), fewest_substeps),
               space.most_substeps);
  const std::uint64_t pieces = space.ranks * substeps;
  std::uint64_t minibatch =
      std::clamp(ceiling(local / static_cast<double>(substeps)), space.lower, space.upper);
  if (minibatch > space.largest / pieces) minibatch = space.largest / pieces;
  const std::uint64_t batch = minibatch * pieces;
  const bool is_possible = minibatch >= space.lower && batch >= space.smallest;
  return {minibatch, is_possible ? substeps : 0, batch};
}

std::vector<Configuration> of_changing_minibatch(const BatchLimits& limits, const Space& space) {
  std::vector<Configuration> found;
  const auto add = [&](double samples, std::uint64_t fewest_substeps) {
    const Configuration next = equal_shares(space, samples, fewest_substeps);
    if (next.substeps > 0 && (found.empty() || next.batch > found.back().batch)) {
      found.push_back(next);
    }
  };
  const auto initial = static_cast<double>(limits.initial_batch);
  const std::vector<double> sizes =
      equal_ratios(static_cast<double>(space.smallest), static_cast<double>(space.largest));
  for (const double samples : sizes) {
    const bool may_be_single = limits.may_be_single_at_initial && samples <= initial + 1e-8;
    add(samples, space.ranks == 1 && !may_be_single ? 2 : 1);
  }
  if (found.empty()) {
    for (const double samples : sizes) add(samples, 1);
  }
  if (!found.empty()) return found;
  const std::uint64_t substeps = ceil_ratio(space.smallest, space.upper * space.ranks);
  return {{std::max(ceil_ratio(space.smallest, space.ranks * substeps), space.lower), substeps,
           space.smallest}};
}

std::vector<Configuration> of_fixed_minibatch(const BatchLimits& limits, const Space& space) {
  const std::uint64_t size = space.lower;
  std::uint64_t fewest = ceil_ratio(space.smallest, size);
  std::uint64_t most = space.largest / size;
  if (!limits.has_accumulation) most = std::min(most, space.ranks);
  if (fewest > most) {
    refuse("no whole number of minibatches of " + std::to_string(size) + " lies between " +
           std::to_string(space.smallest) + " and " + std::to_string(space.largest) + " samples");
  }
  if (fewest == 1 && most > 1 && !limits.may_be_single_at_initial) fewest = 2;
  std::vector<std::uint64_t> counts;
  for (const double count : equal_ratios(static_cast<double>(fewest), static_cast<double>(most))) {
    const std::uint64_t up = ceiling(count), even = up - up % space.ranks;
    for (const std::uint64_t each : {even, up, even + space.ranks}) {  // no rank waits: faster
      if (each >= fewest && each <= most) counts.push_back(each);
    }
  }
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<Configuration> found;
  for (const std::uint64_t count : counts) {
    found.push_back({size, ceil_ratio(count, space.ranks), count * size});
  }
  return found;
}

}  // namespace

std::uint64_t minibatches_of(const Configuration& configuration) {
  return ceil_ratio(configuration.batch, configuration.minibatch);
}

std::vector<Configuration> batch_candidates(const BatchLimits& limits, std::size_t ranks) {
  const Space space = space_of(limits, ranks);
  return limits.fixed_minibatch ? of_fixed_minibatch(limits, space)
                                : of_changing_minibatch(limits, space);
}

Configuration initial_configuration(const BatchLimits& limits, std::size_t ranks) {
  BatchLimits from_initial = limits;
  from_initial.may_go_below_initial = false;
  return batch_candidates(from_initial, ranks).front();
}

bool is_within(const BatchLimits& limits, std::size_t ranks, const Configuration& configuration) {
  const Space space = space_of(limits, ranks);
  const auto [minibatch, substeps, batch] = configuration;
  return minibatch >= space.lower && minibatch <= space.upper && batch >= space.smallest &&
         batch <= space.largest && substeps <= space.most_substeps &&
         substeps == ceil_ratio(minibatches_of(configuration), ranks);
}

}  // namespace rubato::optim
