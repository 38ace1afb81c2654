// The rules, one line each, and one table that lists them: the classes, the factory and the shadow
// rates all read it.
#include "optim/scaling_rules.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "optim/option_check.hpp"

namespace rubato::optim {
namespace {

UpdateRate constant_factor(const ScaleFacts&) { return {1, 1}; }
UpdateRate linear_factor(const ScaleFacts& facts) { return {facts.scale, 1}; }
UpdateRate linear_momentum_factor(const ScaleFacts& facts) { return {1, facts.scale}; }
UpdateRate root_factor(const ScaleFacts& facts) { return {std::sqrt(facts.scale), 1}; }
UpdateRate adascale_factor(const ScaleFacts& facts) { return {facts.noise.gain(facts.scale), 1}; }
UpdateRate adamscale_factor(const ScaleFacts& facts) {
  const GradientNoise& noise =
      facts.preconditioned != nullptr ? *facts.preconditioned : facts.noise;
  return {std::sqrt(noise.gain(facts.scale)), 1};
}
UpdateRate legw_factor(const ScaleFacts& facts) {
  return {std::sqrt(facts.scale) * facts.legw_warmup, 1};
}

using InnerOptimizer = std::unique_ptr<Optimizer<float>>;

template <class Rule>
std::unique_ptr<ElasticOptimizer> make(InnerOptimizer inner, LearningRateSchedule schedule,
                                       ElasticOptions options) {
  return std::make_unique<Rule>(std::move(inner), std::move(schedule), std::move(options));
}

ElasticOptions in_metric_of(const Optimizer<float>* inner, ElasticOptions options) {
  if (dynamic_cast<const Preconditioner<float>*>(inner) == nullptr) return options;
  if (options.noise_metric == NoiseMetric::plain) {
    throw std::invalid_argument(
        "the rule adamscale needs the noise in the optimizer's own metric, not the plain one: "
        "leave the noise metric to it, or choose another rule");
  }
  options.noise_metric = NoiseMetric::preconditioned;
  return options;
}

struct Rule {
  const char* name;
  UpdateRate (*factor)(const ScaleFacts&);
  std::unique_ptr<ElasticOptimizer> (*make)(InnerOptimizer, LearningRateSchedule, ElasticOptions);
  bool needs_metric = false;
};

constexpr std::array<Rule, 7> rules = {{
    {"constant", constant_factor, make<ConstantOptimizer>},
    {"linear", linear_factor, make<LinearRuleOptimizer>},
    {"linear-momentum", linear_momentum_factor, make<LinearRuleMomentumOptimizer>},
    {"root", root_factor, make<RootRuleOptimizer>},
    {"adascale", adascale_factor, make<AdaScaleOptimizer>},
    {"adamscale", adamscale_factor, make<AdamScaleOptimizer>, /*needs_metric=*/true},
    {"legw", legw_factor, make<LegwOptimizer>},
}};

const Rule& find_rule(const std::string& name) {
  for (const Rule& rule : rules) {
    if (rule.name == name) return rule;
  }
  throw_unknown_name("scaling rule", name, rule_names());
}

}  // namespace

UpdateRate ConstantOptimizer::factor(const ScaleFacts& facts) const {
  return constant_factor(facts);
}

UpdateRate LinearRuleOptimizer::factor(const ScaleFacts& facts) const {
  return linear_factor(facts);
}

UpdateRate LinearRuleMomentumOptimizer::factor(const ScaleFacts& facts) const {
  return linear_momentum_factor(facts);
}

UpdateRate RootRuleOptimizer::factor(const ScaleFacts& facts) const { return root_factor(facts); }

UpdateRate AdaScaleOptimizer::factor(const ScaleFacts& facts) const {
  return adascale_factor(facts);
}

AdamScaleOptimizer::AdamScaleOptimizer(std::unique_ptr<Optimizer<float>> inner,
                                       LearningRateSchedule schedule, ElasticOptions options)
    : AdamScaleOptimizer(in_metric_of(inner.get(), std::move(options)), std::move(inner),
                         std::move(schedule)) {}

AdamScaleOptimizer::AdamScaleOptimizer(ElasticOptions options,
                                       std::unique_ptr<Optimizer<float>>&& inner,
                                       LearningRateSchedule schedule)
    : ElasticOptimizer(std::move(inner), std::move(schedule), std::move(options)) {}

UpdateRate AdamScaleOptimizer::factor(const ScaleFacts& facts) const {
  return adamscale_factor(facts);
}

UpdateRate LegwOptimizer::factor(const ScaleFacts& facts) const { return legw_factor(facts); }

std::unique_ptr<ElasticOptimizer> make_elastic_optimizer(const std::string& rule,
                                                         std::unique_ptr<Optimizer<float>> inner,
                                                         LearningRateSchedule schedule,
                                                         ElasticOptions options) {
  return find_rule(rule).make(std::move(inner), std::move(schedule), std::move(options));
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const Rule& rule : rules) names.emplace_back(rule.name);
  return names;
}

UpdateRate rule_factor(const std::string& rule, const ScaleFacts& facts) {
  return find_rule(rule).factor(facts);
}

bool rule_needs_metric(const std::string& rule) { return find_rule(rule).needs_metric; }

void require_rule_fits(const std::string& rule, const std::string& optimizer) {
  if (optimizer != "adadelta" || rule == "constant") return;
  throw std::invalid_argument("the rule " + rule +
                              " does not go with the optimizer adadelta, whose steps do not follow "
                              "the size of the gradient; choose the rule constant");
}

}  // namespace rubato::optim
