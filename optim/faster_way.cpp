#include "optim/faster_way.hpp"

#include <algorithm>

namespace rubato::optim {

std::int64_t FasterWay::Times::median() const {
  auto sorted = nanoseconds;
  const std::size_t known = std::min(count, sorted.size());
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return sorted[known / 2];
}

std::size_t FasterWay::choose() {
  const bool is_trial = second_is_more_.are_enough() ? uses_ % trial_period == 0 : uses_ % 2 == 1;
  chosen_ = is_trial ? 1 - usual_ : usual_;
  ++uses_;
  return chosen_;
}

void FasterWay::took(std::int64_t nanoseconds) {
  if (chosen_ == usual_) return usual_times_.add(nanoseconds);
  const std::int64_t more = nanoseconds - usual_times_.median();
  second_is_more_.add(chosen_ == 1 ? more : -more);
  if (second_is_more_.are_enough()) usual_ = second_is_more_.median() < 0 ? 1 : 0;
}

}  // namespace rubato::optim
