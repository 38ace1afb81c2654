// Goodput: samples a second, times what a sample of so large a batch is worth beside one of the
// initial batch; and the batch size that makes the most of it. Pollux, Qiao et al. 2021,
// arXiv:2008.12260, sections 3.1 and 4.1.
//
//   const auto times = fit(profile);                                  // performance_fit.hpp
//   const GoodputModel model{*times, {noise.variance(), noise.square()}, 128, {.ranks = 4}};
//   const Choice next = best_configuration(model, limits, current);
//
// What it does not know: the samples that an epoch has left, what a change costs beyond the
// hysteresis, and memory.
#pragma once

#include <optional>

#include "optim/batch_candidates.hpp"
#include "optim/longest_share.hpp"
#include "optim/performance_model.hpp"

namespace rubato::optim {

// As GradientNoise tells them (gradient_noise.hpp), at the initial batch as the reference batch.
struct NoiseLevel {
  double variance = 0;
  double square = 1;
};

// Progress of a sample of the batch relative to one of the initial batch: gain(S)/S with
// S = batch / initial batch, AdaScale's gain (arXiv:2007.05105, section 3.2), or
// (noise scale + initial)/(noise scale + batch). In (0, 1] from the initial batch on; 1/S where
// both parts of the noise are 0, or nothing is known yet.
double statistical_efficiency(const NoiseLevel& noise, double initial_batch, double batch);

struct GoodputModel {
  PerformanceParameters times;
  NoiseLevel noise;
  double initial_batch = 1;
  Allocation allocation;
};

// Samples of the initial batch's worth, per second.
double goodput(const GoodputModel& model, const Configuration& configuration);

struct Choice {
  Configuration configuration;
  double goodput = 0;
};

// A change is worth its unrest if it is predicted to gain more than this factor.
constexpr double hysteresis = 1.05;

// The candidate (batch_candidates.hpp) of the highest goodput, the smaller batch of two as good.
// `current` stays if it is within the limits on this allocation and the best is not predicted to be
// better by more than `hysteresis`. Throws std::invalid_argument where no batch is within the
// limits, where their initial batch is not the model's, or for an allocation that makes no sense.
Choice best_configuration(const GoodputModel& model, const BatchLimits& limits,
                          const std::optional<Configuration>& current = std::nullopt);

}  // namespace rubato::optim
