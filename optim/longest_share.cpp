// By speed: whoever would be done first takes the next one, which is the best that can be done with
// equal pieces. All may begin at the whole part of a fair share; the few that are then left are
// handed out by a heap of when each rank would be done with one more.
#include "optim/longest_share.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

#include "optim/option_check.hpp"

namespace rubato::optim {
namespace {

double even_share(const std::vector<double>& slowness, std::uint64_t minibatches) {
  const std::uint64_t ranks = slowness.size();
  double longest = 0;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t count = minibatches / ranks + (rank < minibatches % ranks ? 1 : 0);
    longest = std::max(longest, static_cast<double>(count) * slowness[rank]);
  }
  return longest;
}

double share_by_speed(const std::vector<double>& slowness, std::uint64_t minibatches) {
  double speed = 0;  // of all together
  for (const double each : slowness) speed += 1 / each;
  const double fair_share = static_cast<double>(minibatches) / speed;
  double longest = 0, given = 0;
  using Element = std::pair<double, std::size_t>;  // done with one more, rank
  std::priority_queue<Element, std::vector<Element>, std::greater<>> next;
  for (std::size_t rank = 0; rank < slowness.size(); ++rank) {
    const double count = std::floor(fair_share / slowness[rank]);
    given += count;
    longest = std::max(longest, count * slowness[rank]);
    next.emplace((count + 1) * slowness[rank], rank);
  }
  for (; given < static_cast<double>(minibatches); ++given) {
    const auto [done, rank] = next.top();
    next.pop();
    longest = std::max(longest, done);
    next.emplace(done + slowness[rank], rank);
  }
  return longest;
}

}  // namespace

void check(const Allocation& allocation) {
  if (allocation.hosts == 0 || allocation.ranks < allocation.hosts) {
    throw std::invalid_argument("found " + std::to_string(allocation.hosts) + " hosts and " +
                                std::to_string(allocation.ranks) +
                                " ranks; expected a host or more, and a rank on each");
  }
  if (allocation.slowness.empty()) return;
  if (allocation.slowness.size() != allocation.ranks) {
    throw std::invalid_argument("slowness of " + std::to_string(allocation.slowness.size()) +
                                " ranks; expected that of " + std::to_string(allocation.ranks));
  }
  for (const double each : allocation.slowness) {
    require_value(each >= 1e-3 && each <= 1e3, "slowness of a rank", each, "0.001 to 1000");
  }
}

double longest_share(const Allocation& allocation, std::uint64_t minibatches) {
  if (allocation.slowness.empty()) {
    return std::ceil(static_cast<double>(minibatches) / static_cast<double>(allocation.ranks));
  }
  return allocation.shared_by_speed ? share_by_speed(allocation.slowness, minibatches)
                                    : even_share(allocation.slowness, minibatches);
}

}  // namespace rubato::optim
