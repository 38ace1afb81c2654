// LARS against reference trajectories of its forms in other code bases, closed forms, and the rules
// for norms that are 0 and tensors of one dimension.
#include "optim/lars.hpp"

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

OptimizerOptions options_of(LarsForm form, double trust = 0.1, double epsilon = 0) {
  OptimizerOptions options{.name = "lars", .momentum = 0.9, .weight_decay = 0.005};
  options.epsilon = epsilon;
  options.lars_form = form;
  options.trust = trust;
  return options;
}

void expect_reference_trajectory(const std::string& name, const OptimizerOptions& options) {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/optimizer_golden.json");
  const auto rows =
      nlohmann::json::parse(file)["trajectories"][name].get<std::vector<std::vector<double>>>();
  ASSERT_EQ(rows.size(), trajectory_rates.size());
  Lars<double> lars(options);
  Trajectory<double> trajectory(lars);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    SCOPED_TRACE(name + ", update " + std::to_string(t));
    expect_near_relative(trajectory.update({trajectory_rates[t], 1}), rows[t], 1e-12);
  }
}

// Rows of the file that are no form of this one: apex_LARC_scale (as clip, without the limit),
// cmpark_SGD_with_lars (the study's denominator, the rate inside: no run of it is published),
// cmpark_ver2_HEAD (scales its momentum by mistake), tf_contrib_LARS (decay in the denominator
// alone), mlperf_tf2_LARS_nesterov (looks ahead).
TEST(Lars, FollowsTheReferences) {
  expect_reference_trajectory("lars_paper_alg1", options_of(LarsForm::paper));
  expect_reference_trajectory("mlperf_tf2_LARS", options_of(LarsForm::paper, 0.001, 1e-7));
  expect_reference_trajectory("lars_unscaled_momentum", options_of(LarsForm::unscaled));
  expect_reference_trajectory("apex_LARC_clip", options_of(LarsForm::clip, 0.02, 1e-8));
  expect_reference_trajectory("cmpark_ver2_as_of_README(denominator uses momentum, lr outside)",
                              options_of(LarsForm::study));
}

constexpr std::array forms = {LarsForm::paper, LarsForm::unscaled, LarsForm::clip, LarsForm::study};

// Weights 3, 4 and a gradient of length 10: |w| = 5.
std::vector<double> stepped(const OptimizerOptions& options, const UpdateRate& rate,
                            std::vector<double> w, std::vector<double> g, bool is_vector = false) {
  Lars<double> lars(options);
  std::vector<double> buffer(w.size());
  std::vector<std::span<double>> state(lars.state_names().size(), buffer);
  lars.begin_update(rate);
  TensorFacts facts{.is_vector = is_vector};
  for (const double value : w) facts.weight_square += value * value;
  for (const double value : g) facts.gradient_square += value * value;
  lars.step({w, g, state}, facts);
  return w;
}

TEST(Lars, StepsAsFarAsTheFormulaSays) {
  const UpdateRate rate{0.5, 1};
  for (const LarsForm form : forms) {
    for (const double momentum : {0.0, 0.9}) {
      OptimizerOptions options = options_of(form);
      options.momentum = momentum;
      options.weight_decay = 0.2;
      const double share = form == LarsForm::study ? momentum : 0.2;
      const double lambda = 0.1 * 5 / (10 + share * 5);
      const double way = form == LarsForm::clip ? lambda : 0.5 * lambda;
      expect_near_relative(stepped(options, rate, {3, 4}, {6, 8}),
                           std::vector{3 - way * (6 + 0.2 * 3), 4 - way * (8 + 0.2 * 4)}, 1e-14);
    }
  }
}

// A step is trust * rate * |w| long, whatever the gradient's length, where nothing decays.
TEST(Lars, DoesNotFollowTheGradientsLength) {
  OptimizerOptions options = options_of(LarsForm::paper);
  options.weight_decay = 0;
  for (const double length : {1e-20, 1.0, 1e20}) {
    const auto w = stepped(options, {0.5, 1}, {3, 4}, {6 * length, 8 * length});
    EXPECT_NEAR(std::hypot(w[0] - 3, w[1] - 4), 0.1 * 0.5 * 5, 1e-13) << length;
  }
}

TEST(Lars, ClippedNeverStepsFurtherThanSgd) {
  OptimizerOptions options = options_of(LarsForm::clip, /*trust=*/10);
  options.weight_decay = 0;
  expect_near_relative(stepped(options, {0.125, 1}, {3, 4}, {6, 8}), std::vector{2.25, 3.0}, 1e-14);
  // lambda = 10 * 5 / 10 = 5 is less than 4 * 2, the rate times the scale of the gradient
  expect_near_relative(stepped(options, {4, 2}, {3, 4}, {6, 8}), std::vector{-27.0, -36.0}, 1e-14);
}

// 1 * (gradient + decay * weights): the plain rate.
TEST(Lars, TakesThePlainRateWhereANormIsZero) {
  for (const LarsForm form : forms) {
    OptimizerOptions options = options_of(form);
    options.weight_decay = 0.5;
    EXPECT_THAT(stepped(options, {0.25, 1}, {0, 0}, {6, 8}), ElementsAre(-1.5, -2));
    EXPECT_THAT(stepped(options, {0.25, 1}, {4, 8}, {0, 0}), ElementsAre(3.5, 7));
    EXPECT_THAT(stepped(options, {0.25, 1}, {0, 0}, {0, 0}), ElementsAre(0, 0));
    EXPECT_THAT(stepped(options, {4, 1}, {0, 0}, {6, 8}), ElementsAre(-24, -32));  // even in clip
  }
}

TEST(Lars, TreatsVectorsAsSgdWithoutDecayDoes) {
  for (const LarsForm form : forms) {
    const auto w = stepped(options_of(form), {0.25, 2}, {3, 4}, {6, 8}, /*is_vector=*/true);
    if (form == LarsForm::study) {
      EXPECT_EQ(w, stepped(options_of(form), {0.25, 2}, {3, 4}, {6, 8}));
    } else {
      EXPECT_THAT(w, ElementsAre(0, 0));
    }
  }
}

TEST(Lars, KeepsTheRateOfEachGradientInThePapersForm) {
  const auto trajectory = [](LarsForm form, const std::vector<double>& rates) {
    Lars<double> lars(options_of(form));
    Trajectory<double> run(lars);
    for (const double rate : rates) run.update({rate, 1});
    return run.parameters();
  };
  // The rate falls to 0: one history goes on, the other stands still.
  EXPECT_EQ(trajectory(LarsForm::unscaled, {0.5, 0}), trajectory(LarsForm::unscaled, {0.5}));
  EXPECT_NE(trajectory(LarsForm::paper, {0.5, 0}), trajectory(LarsForm::paper, {0.5}));
}

TEST(Lars, MeasuresTheClippedGradient) {
  OptimizerOptions options = options_of(LarsForm::paper);
  options.weight_decay = 0.2;
  EXPECT_EQ(stepped(options, {0.5, 1, 0.25}, {3, 4}, {6, 8}),
            stepped(options, {0.5, 1}, {3, 4}, {1.5, 2}));
}

TEST(Lars, ReturnsTheSquaredNormOfTheNewWeights) {
  for (const std::size_t size : {1UL, 8UL, 21UL}) {
    Lars<float> lars(options_of(LarsForm::paper));
    std::vector<float> w(size, 2), g(size, 1), buffer(size);
    const std::vector<std::span<float>> state = {buffer};
    lars.begin_update({0.5, 1});
    const double square = lars.step({w, g, state}, {4, 1, 0, false});
    EXPECT_NE(w[0], 2);
    EXPECT_NEAR(square, double(size) * double{w[0]} * double{w[0]}, 1e-12);
  }
}

TEST(Lars, NamesItsState) {
  EXPECT_THAT(Lars<float>(options_of(LarsForm::paper)).state_names(), ElementsAre("momentum"));
  EXPECT_THAT(Lars<float>(OptimizerOptions{}).state_names(), IsEmpty());
  EXPECT_THAT(Lars<float>(options_of(LarsForm::clip)).scalars(), IsEmpty());
}

TEST(Lars, RefusesOptionsOutsideTheirRange) {
  OptimizerOptions options;
  options.trust = 0;
  expect_refusal<Lars<float>>(options, "trust is 0; expected a finite number above 0");
  options = {};
  options.momentum = 1;
  expect_refusal<Lars<float>>(options, "momentum is 1; expected a number from 0 to below 1");
  options = {};
  options.weight_decay = -0.5;
  expect_refusal<Lars<float>>(options, "weight decay is -0.5; expected a finite number, 0 or more");
  options = {};
  options.epsilon = std::numeric_limits<double>::infinity();
  expect_refusal<Lars<float>>(options, "epsilon is inf; expected a finite number, 0 or more");
}

}  // namespace
}  // namespace rubato::optim
