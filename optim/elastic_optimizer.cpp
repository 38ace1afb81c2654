// What all rules share: observe, look up, scale, count. The rule itself is one pure function
// (scaling_rules.cpp).
#include "optim/elastic_optimizer.hpp"

#include <stdexcept>
#include <utility>

#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::optim {

namespace {

UpdateRate scaled(double schedule_rate, const UpdateRate& factor) {
  return {schedule_rate * factor.learning_rate, factor.gradient_scale};
}

}  // namespace

ElasticOptimizer::ElasticOptimizer(std::unique_ptr<Optimizer<float>> inner,
                                   LearningRateSchedule schedule, ElasticOptions options)
    : inner_(std::move(inner)),
      schedule_(std::move(schedule)),
      options_(options),
      noise_(options.reference_batch) {
  if (!inner_) throw std::invalid_argument("elastic optimizer: expected an optimizer to wrap");
}

ElasticOptimizer::~ElasticOptimizer() = default;

std::optional<UpdateRate> ElasticOptimizer::rate_in_advance(double batch_size,
                                                            Position position) const {
  if (needs_gradient()) return {};
  position.progress = progress_;
  return scaled(schedule_.rate(position), factor({batch_size / options_.reference_batch, noise_}));
}

ElasticOptimizer::Decision ElasticOptimizer::decide(const GradientFacts& facts, Position position) {
  require_above_zero("batch size of an update", facts.batch_size);
  position.progress = progress_;
  noise_.observe(facts);
  last_scale_ = facts.batch_size / options_.reference_batch;
  last_schedule_rate_ = schedule_.rate(position);

  const UpdateRate chosen = factor({last_scale_, noise_});
  Decision decision;
  decision.schedule_rate = last_schedule_rate_;
  decision.factor = chosen.learning_rate;
  decision.rate = scaled(last_schedule_rate_, chosen);
  decision.gain = noise_.gain(last_scale_);
  progress_ += decision.gain;
  return decision;
}

double ElasticOptimizer::shadow_rate(const std::string& name) const {
  const UpdateRate chosen = rule_factor(name, {last_scale_, noise_});
  return last_schedule_rate_ * chosen.learning_rate * chosen.gradient_scale;
}

std::vector<NamedScalar> ElasticOptimizer::scalars() const {
  std::vector<NamedScalar> all = {{"progress", progress_}};
  for (NamedScalar& scalar : add_prefix("noise.", noise_.scalars())) all.push_back(scalar);
  for (NamedScalar& scalar : add_prefix("inner.", inner_->scalars())) all.push_back(scalar);
  return all;
}

void ElasticOptimizer::restore_scalars(const std::vector<NamedScalar>& scalars) {
  std::vector<std::string> names;
  for (const NamedScalar& scalar : this->scalars()) names.push_back(scalar.name);
  const double progress = scalar_values("elastic optimizer", names, scalars)[0];
  inner_->restore_scalars(select_prefix("inner.", scalars));
  noise_.restore_scalars(select_prefix("noise.", scalars));
  progress_ = progress;
}

}  // namespace rubato::optim
