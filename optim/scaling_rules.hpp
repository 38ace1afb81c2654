// The scaling rules, each an elastic optimizer. With S = batch / reference batch:
//
//   class                         rate factor   gradient scale   source
//   ConstantOptimizer             1             1
//   LinearRuleOptimizer           S             1                arXiv:1706.02677, section 2.1
//   LinearRuleMomentumOptimizer   1             S                see below
//   RootRuleOptimizer             sqrt(S)       1                arXiv:1404.5997, section 5
//   AdaScaleOptimizer             gain(S)       1                arXiv:2007.05105, algorithm 1
//
// (Goyal et al. 2017; Krizhevsky 2014; Johnson et al. 2020.) LinearRuleMomentumOptimizer puts the
// batch size inside the momentum buffer: after a jump of the batch an old gradient keeps the weight
// of its own batch, where the linear rule gives the whole history the new one. None of the rules
// limits the rate: above some S linear scaling diverges whatever the rule promises, and a warm-up
// (learning_rate_schedule.hpp) is what its source adds to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "optim/elastic_optimizer.hpp"

namespace rubato::optim {

class ConstantOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "constant"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return false; }
};

class LinearRuleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "linear"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return false; }
};

class LinearRuleMomentumOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "linear-momentum"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return false; }
};

class RootRuleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "root"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return false; }
};

class AdaScaleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "adascale"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return true; }
};

// By name: "constant", "linear", "linear-momentum", "root", "adascale". Throws
// std::invalid_argument, listing the valid names, for any other.
std::unique_ptr<ElasticOptimizer> make_elastic_optimizer(const std::string& rule,
                                                         std::unique_ptr<Optimizer<float>> inner,
                                                         LearningRateSchedule schedule,
                                                         ElasticOptions options);
std::vector<std::string> rule_names();
// The rules as functions, for shadow rates.
UpdateRate rule_factor(const std::string& rule, const ScaleFacts& facts);

}  // namespace rubato::optim
