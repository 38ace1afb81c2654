// Adam and AdamW against PyTorch 1.13 in double, and against what a first update must be.
#include "optim/adam.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "refusal.hpp"
#include "trajectory.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Epsilon and decay are large enough to be seen; the rates are a tenth of the trajectory's.
std::vector<double> final_parameters(AdamDecay decay, double gradient_scale) {
  OptimizerOptions options;
  options.beta1 = 0.8;
  options.beta2 = 0.99;
  options.epsilon = 1e-3;
  options.weight_decay = 0.05;
  Adam<double> adam(options, decay);
  Trajectory<double> trajectory(adam);
  for (const double rate : trajectory_rates) trajectory.update({0.1 * rate, gradient_scale});
  return trajectory.parameters();
}

TEST(Adam, MatchesPyTorch) {
  const std::vector<double> expected = {0.23804343608644615, 0.005985661848845218,
                                        -0.06438869067237571, 0.729463410503135};
  expect_near_relative(final_parameters(AdamDecay::in_gradient, 1), expected, 1e-12);
}

TEST(Adam, DecoupledMatchesPyTorchsAdamW) {
  const std::vector<double> expected = {0.23313059427538432, -0.0067220273366143555,
                                        -0.05357115092453989, 0.7171666566827021};
  expect_near_relative(final_parameters(AdamDecay::decoupled, 1), expected, 1e-12);
}

// First update: both averages, corrected, are the gradient and its square, so w <- w - lr d / (|d|
// + epsilon).
TEST(Adam, FirstUpdateIsOneRateLong) {
  OptimizerOptions options;
  options.epsilon = 0.5;
  options.weight_decay = 0.25;
  for (const double scale : {1.0, 4.0}) {
    Adam<double> adam(options, AdamDecay::in_gradient);
    std::vector<double> w = {2}, average(1), square(1);
    const std::vector<std::span<double>> state = {average, square};
    adam.begin_update({0.125, scale});
    adam.update_slice(w, std::vector<double>{3}, state);
    EXPECT_NEAR(w[0], 2 - 0.125 * (3.5 * scale) / (3.5 * scale + 0.5), 1e-14);
  }
}

TEST(Adam, DecoupledDecayIgnoresTheGradientScaleAndFollowsTheRate) {
  OptimizerOptions options;
  options.weight_decay = 0.25;
  Adam<double> adam(options, AdamDecay::decoupled);
  std::vector<double> w = {2, -4}, average(2), square(2);
  const std::vector<std::span<double>> state = {average, square};
  adam.begin_update({0.5, 16});
  adam.update_slice(w, std::vector<double>{0, 0}, state);
  EXPECT_THAT(w, ElementsAre(2 * (1 - 0.5 * 0.25), -4 * (1 - 0.5 * 0.25)));
}

TEST(Adam, CountsUpdatesNotSlices) {
  Adam<float> adam({}, AdamDecay::in_gradient);
  std::vector<float> w(2), g(2), average(2), square(2);
  const std::vector<std::span<float>> first = {std::span(average).first(1),
                                               std::span(square).first(1)};
  adam.begin_update({0.1, 1});
  adam.update_slice(std::span(w).first(1), std::span(g).first(1), first);
  adam.update_slice(std::span(w).first(1), std::span(g).first(1), first);
  ASSERT_EQ(adam.scalars().size(), 1u);
  EXPECT_EQ(adam.scalars()[0].name, "step");
  EXPECT_EQ(adam.scalars()[0].value, 1);
  EXPECT_THAT(adam.state_names(), ElementsAre("exp_avg", "exp_avg_sq"));
}

// After t updates with the same gradient g: q / (1 - beta2^t) = g^2, so P = |g| + epsilon.
TEST(Adam, KnowsTheInverseOfItsDivisor) {
  OptimizerOptions options;
  options.epsilon = 0.5;
  Adam<double> adam(options, AdamDecay::in_gradient);
  std::vector<double> w = {0, 0, 0}, average(3), square(3), scales(3);
  const std::vector<std::span<double>> state = {average, square};
  for (int update = 1; update <= 6; ++update) {
    EXPECT_EQ(adam.is_settled(), update > 5) << update;
    EXPECT_EQ(adam.updates() + 1, static_cast<std::uint64_t>(update));
    adam.begin_update({0.1, 1});
    adam.update_slice(w, std::vector<double>{1.5, -3, 0}, state);
  }
  EXPECT_EQ(adam.state_names()[adam.state_index()], "exp_avg_sq");
  adam.inverse_scales(square, scales);
  EXPECT_NEAR(scales[0], 1 / 2.0, 1e-14);
  EXPECT_NEAR(scales[1], 1 / 3.5, 1e-14);
  EXPECT_EQ(scales[2], 0);  // it has had no gradient

  Adam<double> restored(options, AdamDecay::in_gradient);
  restored.restore_scalars(adam.scalars());
  std::vector<double> same(3);
  restored.inverse_scales(square, same);
  EXPECT_EQ(same, scales);
}

TEST(Adam, InverseScalesStayFinite) {
  OptimizerOptions options;
  options.epsilon = 1e-44;
  Adam<float> adam(options, AdamDecay::in_gradient);
  adam.begin_update({0.1, 1});
  std::vector<float> square = {1e-44F, 0, 1e38F}, scales(3);
  adam.inverse_scales(square, scales);
  for (const float scale : scales) EXPECT_TRUE(std::isfinite(scale));
  EXPECT_EQ(scales[1], 0);
}

TEST(Adam, RefusesWhatIsOutsideItsRange) {
  OptimizerOptions options;
  options.beta1 = 1;
  expect_refusal<Adam<float>>(options, "beta1 is 1; expected a number from 0 to below 1",
                              AdamDecay::in_gradient);
  options = {};
  options.beta2 = -0.1;
  expect_refusal<Adam<float>>(options, "beta2 is -0.1", AdamDecay::in_gradient);
  options = {};
  options.epsilon = 0;
  expect_refusal<Adam<float>>(options, "epsilon is 0; expected a finite number above 0",
                              AdamDecay::in_gradient);
  options.epsilon = 1e-60;  // 0 in float
  expect_refusal<Adam<float>>(options, "epsilon is 1e-60", AdamDecay::in_gradient);
  EXPECT_NO_THROW(Adam<double>(options, AdamDecay::in_gradient));
  options = {};
  options.weight_decay = -1;
  expect_refusal<Adam<float>>(options, "weight decay is -1", AdamDecay::in_gradient);
}

TEST(Adam, RefusesAStepThatIsNoCount) {
  Adam<float> adam({}, AdamDecay::in_gradient);
  EXPECT_THAT(
      [&] {
        adam.restore_scalars({{"step", 1.5}});
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("state of adam: scalar 'step' is 1.5; expected a count of updates")));
  EXPECT_THROW(adam.restore_scalars({{"step", -1}}), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::optim
