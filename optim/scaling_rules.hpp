// The scaling rules, each an elastic optimizer. With S = batch / reference batch:
//
//   class                         rate factor   gradient scale   source
//   ConstantOptimizer             1             1
//   LinearRuleOptimizer           S             1                arXiv:1706.02677, section 2.1
//   LinearRuleMomentumOptimizer   1             S                see below
//   RootRuleOptimizer             sqrt(S)       1                arXiv:1404.5997, section 5
//   AdaScaleOptimizer             gain(S)       1                arXiv:2007.05105, algorithm 1
//   AdamScaleOptimizer            sqrt(gain(S)) 1                Pollux, OSDI 2021, section 3
//   LegwOptimizer                 sqrt(S) w     1                arXiv:1901.08256, section 3
//
// (Goyal et al. 2017; Krizhevsky 2014; Johnson et al. 2020; Qiao et al. 2021; You et al. 2019.)
// AdamScale's gain is that of gradients in the metric of the inner optimizer, where it has one
// (preconditioner.hpp); AdaScale's is that of the gradients as they are.
//
// LEGW warms up linearly, for S times the epochs that the reference batch needs: whatever S is,
// that is the same number of updates. So w counts updates, up to 1, which is right for a batch that
// changes within the warm-up too, and it is above 0 in the first one.
//
// LinearRuleMomentumOptimizer puts the batch size inside the momentum buffer: after a jump of the
// batch an old gradient keeps the weight of its own batch, where the linear rule gives the whole
// history the new one. None of the rules limits the rate: above some S linear scaling diverges
// whatever the rule promises, and a warm-up (learning_rate_schedule.hpp) is what its source adds.
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

class AdamScaleOptimizer final : public ElasticOptimizer {
 public:
  // Throws std::invalid_argument for the plain noise metric where the inner optimizer has its own.
  AdamScaleOptimizer(std::unique_ptr<Optimizer<float>> inner, LearningRateSchedule schedule,
                     ElasticOptions options);
  std::string rule() const override { return "adamscale"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return true; }

 private:
  AdamScaleOptimizer(ElasticOptions options, std::unique_ptr<Optimizer<float>>&& inner,
                     LearningRateSchedule schedule);
};

class LegwOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "legw"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
  bool needs_gradient() const override { return false; }
};

// By name: "constant", "linear", "linear-momentum", "root", "adascale", "adamscale", "legw". Throws
// std::invalid_argument, listing the valid names, for any other.
std::unique_ptr<ElasticOptimizer> make_elastic_optimizer(const std::string& rule,
                                                         std::unique_ptr<Optimizer<float>> inner,
                                                         LearningRateSchedule schedule,
                                                         ElasticOptions options);
std::vector<std::string> rule_names();
// The rules as functions, for shadow rates.
UpdateRate rule_factor(const std::string& rule, const ScaleFacts& facts);
// Whether a rule looks at the noise in the inner optimizer's metric, where that has one.
bool rule_needs_metric(const std::string& rule);

// Throws std::invalid_argument where a rule and an inner optimizer, by their names, do not go
// together: adadelta goes with the constant rule alone.
void require_rule_fits(const std::string& rule, const std::string& optimizer);

}  // namespace rubato::optim
