#include "optim/faster_way.hpp"

#include <algorithm>
#include <cstdlib>

namespace rubato::optim {

std::int64_t FasterWay::Times::quantile(std::size_t numerator, std::size_t denominator) const {
  auto sorted = nanoseconds;
  const std::size_t known = std::min(count, sorted.size());
  std::ranges::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return known == 0 ? 0 : sorted[(known - 1) * numerator / denominator];
}

std::size_t FasterWay::choose() {
  const bool is_trial = ++uses_ >= (is_decided() ? period() : 2);
  if (is_trial) uses_ = 0;
  chosen_ = is_trial ? 1 - usual_ : usual_;
  return chosen_;
}

std::size_t FasterWay::period() const {
  if (trials_ == Trials::often) return trial_periods.front();
  const std::int64_t more = std::abs(second_is_more_.median());
  const auto is_rare_enough = [usual = usual_times_.median(), more](std::size_t period) {
    return static_cast<std::int64_t>(period) * usual >= 50 * more;
  };
  const auto* const period = std::ranges::find_if(trial_periods, is_rare_enough);
  return period == trial_periods.end() ? trial_periods.back() : *period;
}

void FasterWay::took(std::int64_t nanoseconds) {
  if (chosen_ == usual_) return usual_times_.add(nanoseconds);
  const std::int64_t more = nanoseconds - usual_times_.median();
  second_is_more_.add(chosen_ == 1 ? more : -more);
  if (is_decided()) usual_ = is_second_faster() ? 1 : 0;
}

bool FasterWay::is_second_faster() const {
  return trials_ == Trials::often ? second_is_more_.median() < 0
                                  : second_is_more_.quantile(1, 4) <= 0;
}

}  // namespace rubato::optim
