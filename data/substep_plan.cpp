// See substep_plan.hpp.
#include "data/substep_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace rubato::data {

namespace {

constexpr std::array<std::pair<const char*, Assignment>, 3> names{
    {{"blocked", Assignment::blocked},
     {"strided", Assignment::strided},
     {"balanced", Assignment::balanced}}};

// The rank that would be done first with so much more work.
std::size_t first_done(std::span<const double> seconds, std::span<const double> loads,
                       double work) {
  std::size_t first = 0;
  for (std::size_t rank = 1; rank < seconds.size(); ++rank) {
    if ((loads[rank] + work) * seconds[rank] < (loads[first] + work) * seconds[first]) first = rank;
  }
  return first;
}

// How many whole minibatches each rank runs. It may begin at the whole part of a fair share: a rank
// is done with that before the best possible finish.
std::vector<double> whole_counts(std::span<const double> seconds, std::size_t minibatches) {
  double speed = 0;  // of all together
  for (const double each : seconds) speed += 1 / each;
  const double fair_seconds = static_cast<double>(minibatches) / speed;
  constexpr double below = 1 - 1e-12;  // a rounding must not give more than the floor
  std::vector<double> counts;
  std::size_t given = 0;
  for (const double each : seconds) {
    const auto count = static_cast<std::size_t>(below * fair_seconds / each);
    counts.push_back(static_cast<double>(count));
    given += count;
  }
  for (; given < minibatches; ++given) ++counts[first_done(seconds, counts, 1)];
  return counts;
}

}  // namespace

Assignment assignment(const std::string& name) {
  for (const auto& [known, value] : names) {
    if (name == known) return value;
  }
  throw std::invalid_argument("assignment: found \"" + name +
                              "\", expected blocked, strided or balanced");
}

std::string to_string(Assignment assignment) {
  return names.at(static_cast<std::size_t>(assignment)).first;
}

std::vector<std::size_t> substeps_of(Assignment assignment, std::size_t rank, std::size_t ranks,
                                     std::size_t minibatches) {
  if (rank >= ranks) {
    throw std::invalid_argument("substeps_of: found rank " + std::to_string(rank) + " of " +
                                std::to_string(ranks) + " ranks, expected a rank below that");
  }
  const std::size_t share = minibatches / ranks;
  const std::size_t surplus = minibatches % ranks;
  std::vector<std::size_t> offsets(share + (rank < surplus ? 1 : 0));
  if (assignment == Assignment::strided) {
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = rank + k * ranks;
  } else {
    std::iota(offsets.begin(), offsets.end(), rank * share + std::min(rank, surplus));
  }
  return offsets;
}

std::vector<std::size_t> owners_of(Assignment assignment, std::size_t ranks,
                                   std::size_t minibatches) {
  std::vector<std::size_t> owners(minibatches);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (const std::size_t i : substeps_of(assignment, rank, ranks, minibatches)) owners[i] = rank;
  }
  return owners;
}

std::vector<std::size_t> balanced_owners(std::span<const double> seconds,
                                         std::span<const double> work,
                                         std::optional<std::size_t> tried) {
  const auto is_whole = [](double part) { return part >= 1; };
  const auto whole = static_cast<std::size_t>(std::ranges::count_if(work, is_whole));
  std::vector<double> loads = whole_counts(seconds, whole);
  if (tried && whole > 0 && loads[*tried] == 0) {
    loads = whole_counts(seconds, whole - 1);
    ++loads[*tried];
  }
  std::vector<std::size_t> owners(work.size());
  std::vector<double> left = loads;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!is_whole(work[i])) continue;
    while (left[rank] == 0) ++rank;
    --left[rank];
    owners[i] = rank;
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (is_whole(work[i])) continue;
    owners[i] = first_done(seconds, loads, work[i]);
    loads[owners[i]] += work[i];
  }
  return owners;
}

double finishing_seconds(std::span<const std::size_t> owners, std::span<const double> seconds,
                         std::span<const double> work) {
  std::vector<double> done(seconds.size());
  for (std::size_t i = 0; i < owners.size(); ++i) done[owners[i]] += work[i] * seconds[owners[i]];
  return std::ranges::max(done);
}

}  // namespace rubato::data
