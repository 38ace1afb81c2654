// The scaling rules, each an elastic optimizer.
//
// | class                        | rate factor | gradient scale | source                                              |
// | ConstantOptimizer            | 1           | 1              |                                                     |
// | LinearRuleOptimizer          | S           | 1              | Goyal et al. 2017, arXiv:1706.02677, section 2.1    |
// | LinearRuleMomentumOptimizer  | 1           | S              | the batch size inside the momentum buffer: an old gradient keeps the weight of its own batch |
// | RootRuleOptimizer            | sqrt(S)     | 1              | Krizhevsky 2014, arXiv:1404.5997, section 5         |
// | AdaScaleOptimizer            | gain(S)     | 1              | Johnson et al. 2020, arXiv:2007.05105, algorithm 1  |
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
};

class LinearRuleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "linear"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
};

class LinearRuleMomentumOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "linear-momentum"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
};

class RootRuleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "root"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
};

class AdaScaleOptimizer final : public ElasticOptimizer {
 public:
  using ElasticOptimizer::ElasticOptimizer;
  std::string rule() const override { return "adascale"; }
  UpdateRate factor(const ScaleFacts& facts) const override;
};

// By name: "constant", "linear", "linear-momentum", "root", "adascale". Throws std::invalid_argument with the nearest name.
std::unique_ptr<ElasticOptimizer> make_elastic_optimizer(const std::string& rule, std::unique_ptr<Optimizer<float>> inner,
                                                         LearningRateSchedule schedule, ElasticOptions options);
std::vector<std::string> rule_names();
UpdateRate rule_factor(const std::string& rule, const ScaleFacts& facts);  // the rules as functions, for shadow rates

}  // namespace rubato::optim
