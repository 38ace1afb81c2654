// LAMB against a reference trajectory, closed forms, and the rules for norms that are 0 and tensors
// of one dimension.
#include "optim/lamb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "refusal.hpp"
#include "trajectory.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

OptimizerOptions lamb_options(double weight_decay = 0.01) {
  return {.name = "lamb", .weight_decay = weight_decay, .epsilon = 1e-6};
}

TEST(Lamb, FollowsTheReference) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/optimizer_golden.json");
  const auto rows = nlohmann::json::parse(file)["trajectories"]["lamb_apex(lr*0.05)"]
                        .get<std::vector<std::vector<double>>>();
  ASSERT_EQ(rows.size(), trajectory_rates.size());
  Lamb<double> lamb(lamb_options());
  Trajectory<double> trajectory(lamb);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    SCOPED_TRACE("update " + std::to_string(t));
    expect_near_relative(trajectory.update({0.05 * trajectory_rates[t], 1}), rows[t], 1e-12);
  }
}

// The first update from w, whose direction is the gradient's sign but for epsilon.
std::vector<double> stepped(const OptimizerOptions& options, double rate, std::vector<double> w,
                            std::vector<double> g, bool is_vector = false) {
  Lamb<double> lamb(options);
  std::vector<double> a(w.size()), q(w.size());
  const std::vector<std::span<double>> state = {a, q};
  const TensorPart<double> part{w, g, state};
  lamb.begin_update({rate, 1});
  TensorFacts facts{.is_vector = is_vector};
  for (const double value : w) facts.weight_square += value * value;
  facts.direction_square = lamb.make_direction(part, is_vector);
  lamb.step(part, facts);
  return w;
}

TEST(Lamb, StepsAsFarAsTheWeightsAreLong) {
  const double length = 0.25 * std::hypot(3, 4) / std::hypot(1, 1);
  for (const double scale : {1.0, 1e6}) {
    const auto w = stepped(lamb_options(0), 0.25, {3, 4}, {5 * scale, -7 * scale});
    EXPECT_NEAR(w[0], 3 - length, 1e-6);
    EXPECT_NEAR(w[1], 4 + length, 1e-6);
  }
}

TEST(Lamb, AddsTheDecayToTheDirection) {
  const double u0 = 1 + 0.5 * 3, u1 = -1 + 0.5 * 4;
  const double ratio = std::hypot(3, 4) / std::hypot(u0, u1);
  const auto w = stepped(lamb_options(0.5), 0.25, {3, 4}, {5, -7});
  EXPECT_NEAR(w[0], 3 - 0.25 * ratio * u0, 1e-6);
  EXPECT_NEAR(w[1], 4 - 0.25 * ratio * u1, 1e-6);
}

TEST(Lamb, TakesThePlainRateWhereANormIsZero) {
  const auto from_zero = stepped(lamb_options(0.5), 0.25, {0, 0}, {5, -7});
  EXPECT_NEAR(from_zero[0], -0.25, 1e-6);
  EXPECT_NEAR(from_zero[1], 0.25, 1e-6);
  EXPECT_THAT(stepped(lamb_options(0), 0.25, {3, 4}, {0, 0}), ElementsAre(3, 4));
  EXPECT_THAT(stepped(lamb_options(0.5), 0.25, {0, 0}, {0, 0}), ElementsAre(0, 0));
}

TEST(Lamb, TreatsVectorsAsAdamWithoutDecayDoes) {
  const auto w = stepped(lamb_options(0.5), 0.25, {3, 4}, {5, -7}, /*is_vector=*/true);
  EXPECT_NEAR(w[0], 3 - 0.25, 1e-6);
  EXPECT_NEAR(w[1], 4 + 0.25, 1e-6);
}

// Pieces are not to be seen: each element is averaged and stepped once.
TEST(Lamb, DoesPartsOfAnySizeAsOnePlainLoopDoes) {
  constexpr std::size_t size = 1237;
  std::vector<double> w(size), g(size), a(size), q(size);
  for (std::size_t i = 0; i < size; ++i) {
    w[i] = std::sin(0.1 * static_cast<double>(i));
    g[i] = std::cos(0.7 * static_cast<double>(i));
  }
  std::vector<double> u(size), expected(size);
  double u_square = 0, w_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    u[i] = g[i] / (std::abs(g[i]) + 1e-6) + 0.01 * w[i];
    u_square += u[i] * u[i];
    w_square += w[i] * w[i];
  }
  double new_square = 0;
  for (std::size_t i = 0; i < size; ++i) {
    expected[i] = w[i] - 0.5 * std::sqrt(w_square / u_square) * u[i];
    new_square += expected[i] * expected[i];
  }
  Lamb<double> lamb(lamb_options());
  const std::vector<std::span<double>> state = {a, q};
  lamb.begin_update({0.5, 1});
  EXPECT_NEAR(lamb.make_direction({w, g, state}, false), u_square, 1e-10 * u_square);
  EXPECT_NEAR(lamb.step({w, g, state}, {w_square, 0, u_square, false}), new_square,
              1e-10 * new_square);
  for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(w[i], expected[i], 1e-11) << i;
}

TEST(Lamb, NamesItsStateAndRefusesAnothers) {
  Lamb<float> lamb(lamb_options());
  EXPECT_THAT(lamb.state_names(), ElementsAre("exp_avg", "exp_avg_sq"));
  lamb.begin_update({0.1, 1});
  ASSERT_EQ(lamb.scalars().size(), 1u);
  EXPECT_EQ(lamb.scalars()[0].value, 1);
  EXPECT_THAT(
      [&] {
        lamb.restore_scalars({{"step", 1.5}});
      },
      ThrowsMessage<std::invalid_argument>(
          HasSubstr("state of lamb: scalar 'step' is 1.5; expected a count of updates")));
}

TEST(Lamb, RefusesOptionsOutsideTheirRange) {
  OptimizerOptions options;
  options.beta1 = 1;
  expect_refusal<Lamb<float>>(options, "beta1 is 1; expected a number from 0 to below 1");
  options = {};
  options.beta2 = -1;
  expect_refusal<Lamb<float>>(options, "beta2 is -1");
  options = {};
  options.weight_decay = -0.5;
  expect_refusal<Lamb<float>>(options, "weight decay is -0.5");
  options = {};
  options.epsilon = 0;
  expect_refusal<Lamb<float>>(options, "epsilon is 0; expected a finite number above 0");
}

}  // namespace
}  // namespace rubato::optim
