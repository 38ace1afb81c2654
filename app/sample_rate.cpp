// Two sums over the same updates, one of which begins anew.
#include "app/sample_rate.hpp"

#include <utility>

namespace rubato::app {

std::optional<double> SampleRate::Sum::rate() const {
  if (samples == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(samples) / seconds;
}

void SampleRate::add(const runtime::StepReport& report) {
  if (samples_so_far_) {
    for (Sum* sum : {&overall_, &recent_}) {
      sum->samples += report.samples - *samples_so_far_;
      sum->seconds += report.seconds;
    }
  }
  samples_so_far_ = report.samples;
}

std::optional<double> SampleRate::overall() const { return overall_.rate(); }

std::optional<double> SampleRate::take() { return std::exchange(recent_, {}).rate(); }

}  // namespace rubato::app
