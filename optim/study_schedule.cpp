#include "optim/study_schedule.hpp"

#include <algorithm>
#include <cmath>

namespace rubato::optim {

namespace {

constexpr double updates_ahead = 2;

}  // namespace

double study_rate(const ScheduleOptions& options, double units) {
  const double peak = options.base_rate * options.warmup_multiplier;
  const double epoch = std::floor(units / options.epoch_units);
  const double warmup = options.warmup_span / options.epoch_units;
  if (epoch <= warmup) {
    const double steps = options.polynomial_form == PolynomialForm::study_ahead ? epoch + 1 : epoch;
    if (steps >= warmup) return peak;
    return options.base_rate *
           (options.warmup_start +
            (options.warmup_multiplier - options.warmup_start) * steps / warmup);
  }
  const double begin = (std::floor(warmup) + 1) * options.epoch_units;
  const double ahead = updates_ahead * options.epoch_units / options.epoch_updates;
  const double done = std::min((units - begin + ahead) / options.span, 1.0);
  return options.end_rate + (peak - options.end_rate) * std::pow(1 - done, options.power);
}

ScheduleOptions with_epochs(ScheduleOptions options, double epoch_samples, double batch,
                            double reference_batch) {
  options.epoch_updates = std::ceil(epoch_samples / batch);
  switch (options.unit) {
    case ScheduleUnit::update:
      options.epoch_units = options.epoch_updates;
      break;
    case ScheduleUnit::sample:
      options.epoch_units = epoch_samples;
      break;
    case ScheduleUnit::epoch:
      options.epoch_units = 1;
      break;
    case ScheduleUnit::progress:
      options.epoch_units = epoch_samples / reference_batch;
      break;
  }
  return options;
}

}  // namespace rubato::optim
