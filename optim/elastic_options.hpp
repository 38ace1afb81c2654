// What an elastic optimizer is told besides its inner optimizer and its schedule.
#pragma once

#include <string>
#include <vector>

#include "optim/gradient_noise.hpp"

namespace rubato::optim {

// Which gradients the noise scale is of.
enum class NoiseMetric {
  automatic,       // the optimizer's metric for adamscale, the plain one for every other rule
  plain,           // |g|
  preconditioned,  // |g / P|: the metric in which the optimizer steps (preconditioner.hpp)
  both             // as automatic; the other is measured, too, for shadow rates
};
// By name; throws std::invalid_argument, listing the valid names.
NoiseMetric noise_metric(const std::string& name);
std::vector<std::string> noise_metric_names();

struct ElasticOptions {
  double reference_batch = 0;  // > 0
  SingleMinibatch single_minibatch = SingleMinibatch::hold;
  NoiseMetric noise_metric = NoiseMetric::automatic;
  double clip_norm = 0;            // > 0: the mean gradient's norm is at most so much
  double legw_warmup_updates = 0;  // legw: updates of its warm-up, whatever the batch; 0: none
  std::vector<std::string> tensors = {};  // parameter tensors, in their order, whose noise scale is
                                          // measured apart; none: none is
};

}  // namespace rubato::optim
