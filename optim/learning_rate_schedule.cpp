// Five shapes of one number over the run, and a linear warm-up before any of them.
//
// `step` and `multistep` count from the start of the run, warm-up included, as milestones are
// usually quoted; `cosine` and `polynomial` count from the end of the warm-up, so they begin at the
// rate that the warm-up reached.
#include "optim/learning_rate_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "optim/option_check.hpp"
#include "optim/study_schedule.hpp"

namespace rubato::optim {
namespace {

double count(ScheduleUnit unit, const Position& position) {
  switch (unit) {
    case ScheduleUnit::update:
      return position.update;
    case ScheduleUnit::sample:
      return position.sample;
    case ScheduleUnit::epoch:
      return position.epoch;
    case ScheduleUnit::progress:
      return position.progress;
  }
  throw std::invalid_argument("schedule unit is none of update, sample, epoch, progress");
}

// Where the warm-up ends, if there is one.
double peak(const ScheduleOptions& options) {
  return options.base_rate * options.warmup_multiplier;
}

double step_rate(const ScheduleOptions& options, double units) {
  return peak(options) * std::pow(options.gamma, std::floor(units / options.step_size));
}

double multistep_rate(const ScheduleOptions& options, double units) {
  const auto& milestones = options.milestones;
  const auto passed = std::upper_bound(milestones.begin(), milestones.end(), units);
  return peak(options) * std::pow(options.gamma, static_cast<double>(passed - milestones.begin()));
}

// Loshchilov and Hutter 2016, arXiv:1608.03983, equation 5, without restarts.
double cosine_rate(const ScheduleOptions& options, double units) {
  const double done = (units - options.warmup_span) / options.span;
  if (done >= 1) return options.end_rate;
  const double weight = 0.5 * (1 + std::cos(std::numbers::pi * done));
  return options.end_rate + (peak(options) - options.end_rate) * weight;
}

// As You et al. 2017 use it with power 2, arXiv:1708.03888, section 5.
double polynomial_rate(const ScheduleOptions& options, double units) {
  const double done = (units - options.warmup_span) / options.span;
  if (done >= 1) return options.end_rate;
  return options.end_rate + (peak(options) - options.end_rate) * std::pow(1 - done, options.power);
}

double warmup_rate(const ScheduleOptions& options, double units) {
  const double done = units / options.warmup_span;
  return options.base_rate *
         (options.warmup_start + (options.warmup_multiplier - options.warmup_start) * done);
}

void check_milestones(const std::vector<double>& milestones) {
  if (milestones.empty()) {
    throw std::invalid_argument("schedule multistep has no milestones; expected at least one");
  }
  double previous = -1;
  for (const double milestone : milestones) {
    require_at_least_zero("milestone of schedule multistep", milestone);
    require_value(milestone > previous, "milestone of schedule multistep", milestone,
                  "milestones in ascending order");
    previous = milestone;
  }
}

void check_shape(const ScheduleOptions& options) {
  if (options.name == "constant") return;
  if (options.name == "cosine" || options.name == "polynomial") {
    require_above_zero("span of schedule " + options.name, options.span);
    require_at_least_zero("end rate of schedule " + options.name, options.end_rate);
    if (options.name == "polynomial") {
      require_above_zero("power of schedule polynomial", options.power);
      require_above_zero("length of an epoch", options.epoch_units);
      require_above_zero("updates of an epoch", options.epoch_updates);
    }
    return;
  }
  require_above_zero("gamma of schedule " + options.name, options.gamma);
  if (options.name == "step") require_above_zero("step size of schedule step", options.step_size);
  if (options.name == "multistep") check_milestones(options.milestones);
}

}  // namespace

std::vector<std::string> schedule_unit_names() { return {"update", "sample", "epoch", "progress"}; }

ScheduleUnit schedule_unit(const std::string& name) {
  if (name == "update") return ScheduleUnit::update;
  if (name == "sample") return ScheduleUnit::sample;
  if (name == "epoch") return ScheduleUnit::epoch;
  if (name == "progress") return ScheduleUnit::progress;
  throw_unknown_name("schedule unit", name, schedule_unit_names());
}

std::vector<std::string> polynomial_form_names() { return {"plain", "study", "study-ahead"}; }

PolynomialForm polynomial_form(const std::string& name) {
  if (name == "plain") return PolynomialForm::plain;
  if (name == "study") return PolynomialForm::study;
  if (name == "study-ahead") return PolynomialForm::study_ahead;
  throw_unknown_name("form of the schedule polynomial", name, polynomial_form_names());
}

std::vector<std::string> schedule_names() {
  return {"constant", "step", "multistep", "cosine", "polynomial"};
}

LearningRateSchedule::LearningRateSchedule(ScheduleOptions options) : options_(std::move(options)) {
  const std::vector<std::string> names = schedule_names();
  if (std::find(names.begin(), names.end(), options_.name) == names.end()) {
    throw_unknown_name("schedule", options_.name, names);
  }
  require_at_least_zero("learning rate", options_.base_rate);
  require_at_least_zero("warm-up span", options_.warmup_span);
  require_at_least_zero("warm-up start", options_.warmup_start);
  require_above_zero("warm-up multiplier", options_.warmup_multiplier);
  check_shape(options_);
}

LearningRateSchedule LearningRateSchedule::of(Function function) {
  if (!function) throw std::invalid_argument("schedule: expected a function of the position");
  LearningRateSchedule schedule(ScheduleOptions{});
  schedule.function_ = std::move(function);
  return schedule;
}

void LearningRateSchedule::set_epochs(double epoch_samples, double batch, double reference_batch) {
  options_ = with_epochs(std::move(options_), epoch_samples, batch, reference_batch);
}

double LearningRateSchedule::rate(const Position& position) const {
  if (function_) return function_(position);
  const double units = count(options_.unit, position);
  const bool is_plain = options_.polynomial_form == PolynomialForm::plain;
  if (options_.name == "polynomial" && !is_plain) return study_rate(options_, units);
  if (units < options_.warmup_span) return warmup_rate(options_, units);
  if (options_.name == "step") return step_rate(options_, units);
  if (options_.name == "multistep") return multistep_rate(options_, units);
  if (options_.name == "cosine") return cosine_rate(options_, units);
  if (options_.name == "polynomial") return polynomial_rate(options_, units);
  return peak(options_);
}

}  // namespace rubato::optim
