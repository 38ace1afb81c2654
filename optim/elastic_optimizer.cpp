// What all rules share: observe, look up, scale, clip, count. The rule itself is one pure function
// (scaling_rules.cpp).
#include "optim/elastic_optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "optim/layerwise.hpp"
#include "optim/named_scalars.hpp"
#include "optim/option_check.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::optim {
namespace {

constexpr const char* kept_gradient_name = "kept_gradient";

std::string tensor_prefix(const std::string& tensor) { return "noise[" + tensor + "]."; }

void append(std::vector<NamedScalar>& all, std::vector<NamedScalar> more) {
  for (NamedScalar& scalar : more) all.push_back(std::move(scalar));
}

double clip_of(double limit, double mean_square) {
  if (limit == 0) return 1;
  const double norm = std::sqrt(mean_square);
  return norm > limit ? limit / norm : 1;
}

UpdateRate scaled(double schedule_rate, const UpdateRate& factor) {
  return {schedule_rate * factor.learning_rate, factor.gradient_scale};
}

}  // namespace

ElasticOptimizer::ElasticOptimizer(std::unique_ptr<Optimizer<float>> inner,
                                   LearningRateSchedule schedule, ElasticOptions options)
    : inner_(std::move(inner)),
      preconditioner_(dynamic_cast<const Preconditioner<float>*>(inner_.get())),
      is_layerwise_(dynamic_cast<const LayerwiseOptimizer<float>*>(inner_.get()) != nullptr),
      schedule_(std::move(schedule)),
      options_(std::move(options)),
      plain_(options_.reference_batch, options_.single_minibatch),
      tensors_(options_.tensors.size(), plain_) {
  if (!inner_) throw std::invalid_argument("elastic optimizer: expected an optimizer to wrap");
  require_at_least_zero("limit of the gradient's norm", options_.clip_norm);
  require_at_least_zero("warm-up of legw", options_.legw_warmup_updates);
  const bool is_preconditioned = options_.noise_metric == NoiseMetric::preconditioned;
  if (!is_preconditioned && options_.noise_metric != NoiseMetric::both) return;
  if (preconditioner_ == nullptr) {
    throw std::invalid_argument(std::string("noise metric ") +
                                (is_preconditioned ? "preconditioned" : "both") +
                                ": the optimizer has no metric of its own; choose adam or "
                                "adamw, or the plain noise metric");
  }
  preconditioned_ = plain_;
}

ElasticOptimizer::~ElasticOptimizer() = default;

std::optional<UpdateRate> ElasticOptimizer::rate_in_advance(double batch_size,
                                                            Position position) const {
  const bool measures = is_layerwise_ || preconditioned_ || !tensors_.empty() ||
                        options_.single_minibatch == SingleMinibatch::difference;
  if (needs_gradient() || options_.clip_norm > 0 || measures) return {};
  position.progress = progress_;
  return scaled(schedule_.rate(position), factor({batch_size / options_.reference_batch, plain_,
                                                  nullptr, legw_warmup(position)}));
}

double ElasticOptimizer::legw_warmup(const Position& position) const {
  const double warmup = options_.legw_warmup_updates;
  return warmup > 0 ? std::min((position.update + 1) / warmup, 1.0) : 1;
}

ElasticOptimizer::Decision ElasticOptimizer::decide(const UpdateFacts& facts, Position position) {
  require_above_zero("batch size of an update", facts.gradient.batch_size);
  position.progress = progress_;
  observe(facts);
  scale_ = facts.gradient.batch_size / options_.reference_batch;
  last_schedule_rate_ = schedule_.rate(position);
  last_legw_warmup_ = legw_warmup(position);

  const UpdateRate chosen = factor(scale_facts());
  Decision decision;
  decision.schedule_rate = last_schedule_rate_;
  decision.factor = chosen.learning_rate;
  decision.rate = scaled(last_schedule_rate_, chosen);
  decision.rate.gradient_clip = clip_of(options_.clip_norm, facts.gradient.mean_square);
  decision.gain = gain();
  progress_ += decision.gain;
  return decision;
}

// The gradients of two updates of one minibatch each are compared when the second has come; then
// neither is used again.
void ElasticOptimizer::observe(const UpdateFacts& facts) {
  observe(plain_, facts.gradient);
  if (preconditioned_) observe(*preconditioned_, facts.preconditioned);
  for (std::size_t i = 0; i < std::min(tensors_.size(), facts.tensors.size()); ++i) {
    observe(tensors_[i], facts.tensors[i]);
  }
  keeps_gradient_ = options_.single_minibatch == SingleMinibatch::difference &&
                    facts.gradient.minibatches == 1 && kept_batch_ == 0;
  kept_batch_ = keeps_gradient_ ? facts.gradient.batch_size : 0;
}

void ElasticOptimizer::observe(GradientNoise& noise, const GradientFacts& facts) const {
  if (facts.minibatches == 1 && kept_batch_ > 0) {
    noise.observe_difference(facts_of_both(facts, kept_batch_));
  } else {
    noise.observe(facts);
  }
}

ScaleFacts ElasticOptimizer::scale_facts() const {
  return {scale_, plain_, preconditioned_ ? &*preconditioned_ : nullptr, last_legw_warmup_};
}

void ElasticOptimizer::update(const Decision& decision, GradientSync& sync, std::size_t minibatches,
                              SliceUpdate& slice) const {
  slice.prepare(decision.rate, minibatches);
  slice.run();
  sync.take_scales();
  if (keeps_gradient_) slice.keep_mean();
}

double ElasticOptimizer::shadow_rate(const std::string& name) const {
  const bool is_unknown = rule_needs_metric(name) && preconditioner_ != nullptr && !preconditioned_;
  if (is_unknown) return std::numeric_limits<double>::quiet_NaN();
  const UpdateRate chosen = rule_factor(name, scale_facts());
  return last_schedule_rate_ * chosen.learning_rate * chosen.gradient_scale;
}

std::vector<std::string> ElasticOptimizer::state_names() const {
  std::vector<std::string> names = inner_->state_names();
  if (options_.single_minibatch == SingleMinibatch::difference) names.push_back(kept_gradient_name);
  return names;
}

MeasureOptions ElasticOptimizer::measures(const SharedState& state) const {
  MeasureOptions measures;
  measures.per_tensor = !tensors_.empty();
  if (preconditioned_) {
    measures.preconditioner = preconditioner_;
    measures.preconditioner_state = state.optimizer_state[preconditioner_->state_index()];
  }
  if (options_.single_minibatch == SingleMinibatch::difference) {
    measures.kept_gradient = state.optimizer_state.back();
  }
  return measures;
}

void ElasticOptimizer::update_scale(double scale) {
  require_above_zero("scale", scale);
  scale_ = scale;
}

std::vector<NamedScalar> ElasticOptimizer::scalars() const {
  std::vector<NamedScalar> all = {{"progress", progress_}, {"scale", scale_}};
  if (options_.single_minibatch == SingleMinibatch::difference) {
    all.push_back({"kept_batch", kept_batch_});
  }
  append(all, add_prefix("noise.", plain_.scalars()));
  if (preconditioned_) append(all, add_prefix("preconditioned.", preconditioned_->scalars()));
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    append(all, add_prefix(tensor_prefix(options_.tensors[i]), tensors_[i].scalars()));
  }
  append(all, add_prefix("inner.", inner_->scalars()));
  return all;
}

void ElasticOptimizer::restore_scalars(const std::vector<NamedScalar>& scalars) {
  std::vector<std::string> names;
  for (const NamedScalar& scalar : this->scalars()) names.push_back(scalar.name);
  const std::vector<double> values = scalar_values("elastic optimizer", names, scalars);
  inner_->restore_scalars(select_prefix("inner.", scalars));
  plain_.restore_scalars(select_prefix("noise.", scalars));
  if (preconditioned_) {
    preconditioned_->restore_scalars(select_prefix("preconditioned.", scalars));
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    tensors_[i].restore_scalars(select_prefix(tensor_prefix(options_.tensors[i]), scalars));
  }
  progress_ = values[0];
  scale_ = values[1];
  if (options_.single_minibatch == SingleMinibatch::difference) kept_batch_ = values[2];
}

}  // namespace rubato::optim
