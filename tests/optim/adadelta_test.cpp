// Adadelta against a plain loop over the definition, and against what a first update must be.
#include "optim/adadelta.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>

#include "refusal.hpp"
#include "trajectory.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

OptimizerOptions visible_options() {
  OptimizerOptions options;
  options.rho = 0.8;
  options.epsilon = 1e-2;
  options.weight_decay = 0.05;
  return options;
}

// The trajectory's problem by the definition: running averages written out, no state kept but them.
std::array<double, 4> definition(double gradient_scale) {
  const OptimizerOptions options = visible_options();
  std::array<double, 4> w = {0.5, -0.25, 0.125, 1}, squares = {}, steps = {};
  for (std::size_t t = 0; t < trajectory_rates.size(); ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      const double wave = std::sin(1.7 * static_cast<double>(i) + 0.9 * static_cast<double>(t));
      const double g = 0.3 * w[i] + 0.05 * wave + 0.02;
      const double d = gradient_scale * (g + options.weight_decay * w[i]);
      squares[i] = 0.8 * squares[i] + 0.2 * d * d;
      const double x = d * std::sqrt((steps[i] + 1e-2) / (squares[i] + 1e-2));
      steps[i] = 0.8 * steps[i] + 0.2 * x * x;
      w[i] -= trajectory_rates[t] * x;
    }
  }
  return w;
}

TEST(Adadelta, FollowsItsDefinition) {
  for (const double scale : {1.0, 3.0}) {
    Adadelta<double> adadelta(visible_options());
    Trajectory<double> trajectory(adadelta);
    for (const double rate : trajectory_rates) trajectory.update({rate, scale});
    expect_near_relative(trajectory.parameters(), definition(scale), 1e-12);
  }
}

// sqrt(epsilon) / sqrt((1 - rho) d^2 + epsilon) d: with epsilon far below the gradient, its sign
// times sqrt(epsilon / (1 - rho)), whatever its size.
TEST(Adadelta, FirstStepHasNoUnitsOfTheGradient) {
  OptimizerOptions options;
  options.rho = 0.75;
  options.epsilon = 1e-8;
  for (const double gradient : {1.0, -5.0, 1e3}) {
    Adadelta<double> adadelta(options);
    std::vector<double> w = {0}, squares(1), steps(1);
    const std::vector<std::span<double>> state = {squares, steps};
    adadelta.begin_update({0.5, 1});
    adadelta.update_slice(w, std::vector<double>{gradient}, state);
    EXPECT_NEAR(w[0], -std::copysign(0.5 * std::sqrt(1e-8 / 0.25), gradient), 1e-10);
  }
}

TEST(Adadelta, KeepsItsAveragesWithTheCaller) {
  Adadelta<float> adadelta(OptimizerOptions{.name = "adadelta"});
  EXPECT_THAT(adadelta.state_names(), ElementsAre("square_avg", "acc_delta"));
  EXPECT_THAT(adadelta.scalars(), IsEmpty());
  EXPECT_NO_THROW(adadelta.restore_scalars({}));
  EXPECT_THAT(
      [&] {
        adadelta.restore_scalars({{"step", 1}});
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("state of adadelta: scalar 'step' is unknown")));
}

TEST(Adadelta, RefusesWhatIsOutsideItsRange) {
  OptimizerOptions options;
  options.rho = 1;
  expect_refusal<Adadelta<float>>(options, "rho is 1; expected a number from 0 to below 1");
  options = {};
  options.epsilon = 0;
  expect_refusal<Adadelta<float>>(options, "epsilon is 0; expected a finite number above 0");
  options = {};
  options.weight_decay = -1;
  expect_refusal<Adadelta<float>>(options, "weight decay is -1");
}

}  // namespace
}  // namespace rubato::optim
