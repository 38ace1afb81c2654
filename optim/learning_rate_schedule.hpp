// The learning rate before any rule scales it, as a function of how far the run has come.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rubato::optim {

// How far the run has come, in each unit that a schedule may count in.
struct Position {
  double update = 0;    // updates done
  double sample = 0;    // samples used
  double epoch = 0;     // epochs, with their fraction: samples used / samples per epoch
  double progress = 0;  // scale-invariant progress tau
};

enum class ScheduleUnit { update, sample, epoch, progress };

// Of the schedule polynomial: as it is meant, or one of two as a published study ran it
// (study_schedule.hpp).
enum class PolynomialForm { plain, study, study_ahead };

struct ScheduleOptions {
  std::string name = "constant";  // constant, step, multistep, cosine, polynomial
  ScheduleUnit unit = ScheduleUnit::epoch;
  double base_rate = 0.1;
  double gamma = 0.1;                   // step, multistep: factor at each milestone
  double step_size = 1;                 // step: units between milestones
  std::vector<double> milestones = {};  // multistep: units, ascending
  double span = 0;      // cosine, polynomial: units from start (or end of warm-up) to end_rate; > 0
  double end_rate = 0;  // cosine, polynomial
  double power = 2;     // polynomial
  // Gradual warm-up (Goyal et al. 2017, arXiv:1706.02677, section 2.2): linear from
  // base_rate * warmup_start to base_rate * warmup_multiplier over the first warmup_span units (in
  // `unit`); what follows begins there. Cosine and polynomial start counting after it; step and
  // multistep count from the start of the run.
  double warmup_span = 0;
  double warmup_start = 0;
  double warmup_multiplier = 1;
  PolynomialForm polynomial_form = PolynomialForm::plain;
  double epoch_units = 1;    // of the study's forms: how long an epoch is, in `unit`
  double epoch_updates = 1;  // and how many updates it has
};

// By name; throws std::invalid_argument, listing the valid names.
ScheduleUnit schedule_unit(const std::string& name);
std::vector<std::string> schedule_unit_names();
PolynomialForm polynomial_form(const std::string& name);
std::vector<std::string> polynomial_form_names();  // plain, study, study-ahead
std::vector<std::string> schedule_names();

class LearningRateSchedule {
 public:
  // Throws std::invalid_argument, naming the value at fault.
  explicit LearningRateSchedule(ScheduleOptions options);
  // A function of one's own, of the position alone: a run that goes on from a checkpoint, or on
  // other ranks, asks it the same again. What it says is checked when an update uses it.
  using Function = std::function<double(const Position&)>;
  static LearningRateSchedule of(Function function);

  // Stateless: the position, what is done before the update, is all the state.
  double rate(const Position& position) const;
  const ScheduleOptions& options() const noexcept { return options_; }

  // Tells the study's forms how long an epoch is: with_epochs() of study_schedule.hpp.
  void set_epochs(double epoch_samples, double batch, double reference_batch);

 private:
  ScheduleOptions options_;
  Function function_;
};

}  // namespace rubato::optim
