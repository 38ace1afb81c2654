// An elastic optimizer wraps an inner one and rescales its learning rate to the batch size of each update.
//
//   effective rate = schedule(position) x factor(facts)
//
// Every rule is a pure function of the update's facts, so one run can say what each of them would have chosen. Scale S is
// batch / reference batch for all of them. The schedule's own rate is untouched: it is a function of the position.
//
// Two ways to use it. The train step (runtime/) calls decide() and the parts itself. A program of one's own calls
// set_epoch() and then step() once per substep, as in examples/01_trace_training.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "optim/gradient_noise.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"

namespace rubato::optim {

class GradientSync;

// What a rule may look at.
struct ScaleFacts {
  double scale = 1;             // S = batch / reference batch
  const GradientNoise& noise;   // with this update's gradient already observed
};

struct ElasticOptions {
  double reference_batch = 0;  // > 0
};

class ElasticOptimizer {
 public:
  ElasticOptimizer(std::unique_ptr<Optimizer<float>> inner, LearningRateSchedule schedule, ElasticOptions options);
  virtual ~ElasticOptimizer();

  virtual std::string rule() const = 0;  // "linear", ...
  // The rule: factor on the rate, and scale on the gradient (1 for all rules but linear-momentum).
  virtual UpdateRate factor(const ScaleFacts& facts) const = 0;

  // Takes in one update's gradient and chooses its rate; advances progress by the gain. `position` counts what is done.
  struct Decision {
    UpdateRate rate;            // what the inner optimizer is given
    double schedule_rate = 0;
    double factor = 1;
    double gain = 1;            // of this update, whatever the rule
  };
  Decision decide(const GradientFacts& facts, Position position);

  // The rate that rule `name` would have chosen for the update last decided (shadow rates).
  double shadow_rate(const std::string& name) const;

  Optimizer<float>& inner() noexcept { return *inner_; }
  const LearningRateSchedule& schedule() const noexcept { return schedule_; }
  const GradientNoise& noise() const noexcept { return noise_; }
  double progress() const noexcept { return progress_; }  // tau: the sum of the gains
  double reference_batch() const noexcept { return options_.reference_batch; }

  // Few-numbers state: noise averages, progress, the inner optimizer's scalars (prefixed "inner.").
  std::vector<NamedScalar> scalars() const;
  void restore_scalars(const std::vector<NamedScalar>& scalars);

 private:
  std::unique_ptr<Optimizer<float>> inner_;
  LearningRateSchedule schedule_;
  ElasticOptions options_;
  GradientNoise noise_;
  double progress_ = 0;
  double last_scale_ = 1;
  double last_schedule_rate_ = 0;
};

}  // namespace rubato::optim
