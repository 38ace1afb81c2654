// SGD against reference trajectories (three momentum forms while the rate changes), PyTorch, and
// closed forms.
#include "optim/sgd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "refusal.hpp"
#include "trajectory.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

OptimizerOptions momentum_options(MomentumForm form) {
  OptimizerOptions options;
  options.momentum = 0.9;
  options.weight_decay = 0.005;
  options.form = form;
  return options;
}

void expect_reference_trajectory(const std::string& name, MomentumForm form) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/optimizer_golden.json");
  const auto rows =
      nlohmann::json::parse(file)["trajectories"][name].get<std::vector<std::vector<double>>>();
  ASSERT_EQ(rows.size(), trajectory_rates.size());
  Sgd<double> sgd(momentum_options(form));
  Trajectory<double> trajectory(sgd);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    SCOPED_TRACE(name + ", update " + std::to_string(t));
    expect_near_relative(trajectory.update({trajectory_rates[t], 1}), rows[t], 1e-12);
  }
}

std::vector<double> final_parameters(const OptimizerOptions& options) {
  Sgd<double> sgd(options);
  Trajectory<double> trajectory(sgd);
  for (const double rate : trajectory_rates) trajectory.update({rate, 1});
  return trajectory.parameters();
}

TEST(Sgd, TorchFormFollowsTheReference) {
  expect_reference_trajectory("sgd_momentum_U_torch", MomentumForm::torch);
}

TEST(Sgd, VFormFollowsTheReference) {
  expect_reference_trajectory("sgd_momentum_V", MomentumForm::v);
}

TEST(Sgd, CorrectedVFormFollowsTheReference) {
  expect_reference_trajectory("sgd_momentum_V_corrected(==U)", MomentumForm::v_corrected);
}

// The expected numbers of the next two are PyTorch 1.13's, in double.
TEST(Sgd, NesterovMatchesPyTorch) {
  OptimizerOptions options = momentum_options(MomentumForm::torch);
  options.nesterov = true;
  const std::vector<double> expected = {-0.463963159314464, 0.10538936477708327,
                                        -0.09362438131953202, -0.7312902956511516};
  expect_near_relative(final_parameters(options), expected, 1e-12);
}

TEST(Sgd, WithoutMomentumMatchesPyTorch) {
  OptimizerOptions options;
  options.weight_decay = 0.005;
  const std::vector<double> expected = {0.12750117500357477, -0.09081421808815295,
                                        0.03207978630130145, 0.30762253487504043};
  expect_near_relative(final_parameters(options), expected, 1e-12);
}

// Constant gradient g: u_k = g (1 - m^k) / (1 - m), so the way is lr g (k - m (1 - m^k) / (1 - m))
// / (1 - m).
TEST(Sgd, ConstantGradientGoesTheClosedFormsWay) {
  OptimizerOptions options;
  options.momentum = 0.75;
  Sgd<double> sgd(options);
  std::vector<double> w = {1, 2, 3}, momentum = {0, 0, 0};
  const std::vector<double> g = {4, -8, 0.5};
  const std::vector<std::span<double>> state = {momentum};
  for (int k = 1; k <= 20; ++k) {
    sgd.begin_update({0.01, 1});
    sgd.update_slice(w, g, state);
    const double way = 0.01 * (k - 0.75 * (1 - std::pow(0.75, k)) / 0.25) / 0.25;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(w[i], static_cast<double>(i + 1) - way * g[i], 1e-14) << "update " << k;
    }
  }
}

TEST(Sgd, GradientScaleMultipliesGradientAndDecay) {
  for (const MomentumForm form :
       {MomentumForm::torch, MomentumForm::v, MomentumForm::v_corrected}) {
    for (const double momentum : {0.0, 0.5}) {
      OptimizerOptions options = momentum_options(form);
      options.momentum = momentum;
      options.weight_decay = 0.25;
      Sgd<double> sgd(options);
      std::vector<double> w = {2}, buffer = {0};
      std::vector<std::span<double>> state(sgd.state_names().size(), buffer);
      sgd.begin_update({0.125, 4});
      sgd.update_slice(w, std::vector<double>{3}, state);
      EXPECT_EQ(w[0], 2 - 0.125 * 4 * (3 + 0.25 * 2));
    }
  }
}

// A batch size inside the buffer keeps each old gradient's own weight: the displacements of form v.
TEST(Sgd, GradientScaleInTorchFormTakesTheStepsOfFormV) {
  Sgd<double> scaled(momentum_options(MomentumForm::torch));
  Sgd<double> inside(momentum_options(MomentumForm::v));
  Sgd<double> outside(momentum_options(MomentumForm::torch));
  Trajectory<double> first(scaled), second(inside), third(outside);
  for (const double scale : {1.0, 8.0, 8.0, 2.0, 1.0}) {
    first.update({0.05, scale});
    second.update({0.05 * scale, 1});
    third.update({0.05 * scale, 1});
  }
  expect_near_relative(first.parameters(), second.parameters(), 1e-12);
  EXPECT_GT(std::abs(first.parameters()[3] - third.parameters()[3]), 0.1);
}

TEST(Sgd, CorrectionRestartsAfterARateOfZero) {
  Sgd<double> sgd(momentum_options(MomentumForm::v_corrected));
  std::vector<double> w = {1}, buffer = {0};
  const std::vector<double> g = {1};
  const std::vector<std::span<double>> state = {buffer};
  for (const double rate : {0.5, 0.0, 0.5}) {
    sgd.begin_update({rate, 1});
    sgd.update_slice(w, g, state);
  }
  EXPECT_DOUBLE_EQ(buffer[0], 0.5 * (1 + 0.005 * (1 - 0.5 * 1.005)));
}

TEST(Sgd, NamesItsState) {
  EXPECT_THAT(Sgd<float>(OptimizerOptions{}).state_names(), IsEmpty());
  EXPECT_THAT(Sgd<float>(momentum_options(MomentumForm::v)).state_names(), ElementsAre("momentum"));
  EXPECT_THAT(Sgd<float>(momentum_options(MomentumForm::v)).scalars(), IsEmpty());
  Sgd<float> corrected(momentum_options(MomentumForm::v_corrected));
  corrected.begin_update({0.375, 1});
  ASSERT_EQ(corrected.scalars().size(), 1u);
  EXPECT_EQ(corrected.scalars()[0].name, "previous_rate");
  EXPECT_EQ(corrected.scalars()[0].value, 0.375);
}

TEST(Sgd, RefusesOptionsOutsideTheirRange) {
  OptimizerOptions options;
  options.momentum = 1;
  expect_refusal<Sgd<float>>(options, "momentum is 1; expected a number from 0 to below 1");
  options.momentum = std::numeric_limits<double>::quiet_NaN();
  expect_refusal<Sgd<float>>(options, "momentum is nan");
  options = {};
  options.weight_decay = -0.5;
  expect_refusal<Sgd<float>>(options, "weight decay is -0.5; expected a finite number, 0 or more");
  options = {};
  options.nesterov = true;
  expect_refusal<Sgd<float>>(options,
                             "nesterov needs a momentum above 0 and the momentum form torch");
  options.momentum = 0.9;
  options.form = MomentumForm::v;
  expect_refusal<Sgd<float>>(options,
                             "nesterov needs a momentum above 0 and the momentum form torch");
}

}  // namespace
}  // namespace rubato::optim
