#include "optim/faster_way.hpp"

#include <algorithm>

namespace rubato::optim {

std::int64_t FasterWay::Times::median() const {
  auto sorted = nanoseconds;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

std::size_t FasterWay::choose() {
  const bool knows_both = times_[0].is_known() && times_[1].is_known();
  const bool is_trial = knows_both ? uses_ % trial_period == 0 : uses_ % 2 == 1;
  chosen_ = is_trial ? 1 - usual_ : usual_;
  ++uses_;
  return chosen_;
}

void FasterWay::took(std::int64_t nanoseconds) {
  Times& mine = times_[chosen_];
  mine.nanoseconds[mine.count % mine.nanoseconds.size()] = nanoseconds;
  ++mine.count;
  const Times& usual = times_[usual_];
  const Times& other = times_[1 - usual_];
  if (usual.is_known() && other.is_known() && other.median() < usual.median()) {
    usual_ = 1 - usual_;
  }
}

}  // namespace rubato::optim
