// What every optimizer promises: the same bits however its slices are cut, in float and in double;
// float near double; a run that goes on after its state was saved and restored; names and sentences
// for what is wrong.
#include "optim/optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "trajectory.hpp"

namespace rubato::optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct NamedOptions {
  std::string title;
  OptimizerOptions options;
};

std::vector<NamedOptions> all_optimizers() {
  OptimizerOptions plain, torch, nesterov, v, corrected, adam, adamw, adadelta;
  plain.weight_decay = torch.weight_decay = v.weight_decay = adamw.weight_decay = 0.01;
  torch.momentum = nesterov.momentum = v.momentum = corrected.momentum = 0.9;
  nesterov.nesterov = true;
  v.form = MomentumForm::v;
  corrected.form = MomentumForm::v_corrected;
  adam.name = "adam";
  adamw.name = "adamw";
  adadelta.name = "adadelta";
  return {{"plain", plain}, {"torch", torch},         {"nesterov", nesterov},
          {"v", v},         {"corrected", corrected}, {"adam", adam},
          {"adamw", adamw}, {"adadelta", adadelta}};
}

// Those that step a whole tensor at a time.
std::vector<NamedOptions> layerwise_optimizers() {
  std::vector<NamedOptions> all;
  for (const std::string& form : lars_form_names()) {
    OptimizerOptions lars{.name = "lars", .momentum = 0.9, .weight_decay = 0.01};
    lars.lars_form = lars_form(form);
    lars.trust = 0.1;
    all.push_back({"lars_" + form, lars});
  }
  all.push_back({"lamb", {.name = "lamb", .weight_decay = 0.01, .epsilon = 1e-6}});
  return all;
}

class EveryOptimizer : public testing::TestWithParam<NamedOptions> {};
class EveryElementwiseOptimizer : public EveryOptimizer {};

const auto title_of = [](const auto& test) { return test.param.title; };
INSTANTIATE_TEST_SUITE_P(Optimizer, EveryOptimizer, testing::ValuesIn(all_optimizers()), title_of);
INSTANTIATE_TEST_SUITE_P(Layerwise, EveryOptimizer, testing::ValuesIn(layerwise_optimizers()),
                         title_of);
INSTANTIATE_TEST_SUITE_P(Optimizer, EveryElementwiseOptimizer, testing::ValuesIn(all_optimizers()),
                         title_of);

// Five updates of 1003 parameters, each update cut at the given places.
template <class T>
std::vector<T> train_in_slices(const OptimizerOptions& options, std::vector<std::size_t> cuts) {
  constexpr std::size_t size = 1003;
  const auto optimizer = make_optimizer<T>(options);
  std::vector<T> w(size), g(size);
  std::vector<std::vector<T>> state(optimizer->state_names().size(), std::vector<T>(size));
  for (std::size_t i = 0; i < size; ++i) w[i] = static_cast<T>(std::sin(double(i)));
  cuts.push_back(size);
  for (int update = 0; update < 5; ++update) {
    for (std::size_t i = 0; i < size; ++i) {
      g[i] = static_cast<T>(0.3 * double(w[i]) + 0.1 * std::cos(double(i) + update));
    }
    optimizer->begin_update({0.1 / (1 + update), 1.5});
    std::size_t begin = 0;
    for (const std::size_t end : cuts) {
      std::vector<std::span<T>> slices;
      for (auto& buffer : state) slices.push_back(std::span(buffer).subspan(begin, end - begin));
      optimizer->update_slice(std::span(w).subspan(begin, end - begin),
                              std::span<const T>(g).subspan(begin, end - begin), slices);
      begin = end;
    }
  }
  return w;
}

TEST_P(EveryElementwiseOptimizer, GivesTheSameBitsHoweverSlicesAreCut) {
  const OptimizerOptions& options = GetParam().options;
  const auto whole = train_in_slices<float>(options, {});
  const auto whole_double = train_in_slices<double>(options, {});
  ASSERT_NE(whole[7], std::sin(7.0f));  // it moved
  for (const auto& cuts : std::vector<std::vector<std::size_t>>{
           {1}, {512}, {0, 3, 10, 11, 500, 1002}, {997, 998, 999, 1000, 1001, 1002}}) {
    EXPECT_EQ(train_in_slices<float>(options, cuts), whole);
    EXPECT_EQ(train_in_slices<double>(options, cuts), whole_double);
  }
}

TEST_P(EveryOptimizer, InFloatStaysNearDouble) {
  const auto in_float = train_in_slices<float>(GetParam().options, {});
  const auto in_double = train_in_slices<double>(GetParam().options, {});
  for (std::size_t i = 0; i < in_double.size(); ++i) {
    ASSERT_NEAR(in_float[i], in_double[i], 2e-5) << "element " << i;
  }
}

// A second optimizer takes over in mid-run with nothing but the scalars (the buffers are the
// trajectory's own).
TEST_P(EveryOptimizer, GoesOnFromItsScalars) {
  const auto first = make_optimizer<double>(GetParam().options);
  Trajectory<double> unbroken(*first);
  for (const double rate : trajectory_rates) unbroken.update({0.1 * rate, 1});

  const auto second = make_optimizer<double>(GetParam().options);
  Trajectory<double> resumed(*second);
  for (std::size_t t = 0; t < trajectory_rates.size(); ++t) {
    const std::vector<NamedScalar> saved = second->scalars();
    second->begin_update({7, 1});  // what a stranger would have left behind
    second->restore_scalars(saved);
    resumed.update({0.1 * trajectory_rates[t], 1});
  }
  EXPECT_EQ(resumed.parameters(), unbroken.parameters());
}

// The clip makes the gradient smaller, and nothing else.
TEST_P(EveryOptimizer, ClipsTheGradientAlone) {
  const auto stepped = [](double gradient, double clip) {
    const auto optimizer = make_optimizer<double>(GetParam().options);
    std::vector<double> w = {0.5, -2};
    std::vector<std::vector<double>> state(optimizer->state_names().size(),
                                           std::vector<double>(2, 0.25));
    optimizer->begin_update({0.25, 2, clip});
    const std::vector<std::span<double>> buffers(state.begin(), state.end());
    optimizer->update_slice(w, std::vector<double>{gradient, -gradient}, buffers);
    return w;
  };
  EXPECT_EQ(stepped(3, 0.5), stepped(1.5, 1));
  EXPECT_NE(stepped(3, 0.5), stepped(3, 1));
}

TEST_P(EveryOptimizer, RefusesRatesThatAreNone) {
  const auto optimizer = make_optimizer<float>(GetParam().options);
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(
      [&] {
        optimizer->begin_update({not_a_number, 1});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("learning rate of an update is nan")));
  EXPECT_THAT(
      [&] {
        optimizer->begin_update({-1, 1});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("learning rate of an update is -1")));
  EXPECT_THAT(
      [&] {
        optimizer->begin_update({1, std::numeric_limits<double>::infinity()});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("gradient scale of an update is inf")));
  EXPECT_THAT(
      [&] {
        optimizer->begin_update({1, 1, 1.5});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("gradient clip of an update is 1.5")));
}

TEST_P(EveryOptimizer, RefusesBuffersThatDoNotFit) {
  const auto optimizer = make_optimizer<float>(GetParam().options);
  const std::size_t count = optimizer->state_names().size();
  std::vector<float> w(4), g(4), longer(5);
  const std::vector<std::span<float>> state(count, std::span(g));
  const std::vector<std::span<float>> one_more(count + 1, std::span(g));
  optimizer->begin_update({0.1, 1});
  const auto message = HasSubstr("slice of 4 parameters: expected a gradient and " +
                                 std::to_string(count) + " state buffers of that size");
  EXPECT_THAT([&] { optimizer->update_slice(w, longer, state); },
              ThrowsMessage<std::invalid_argument>(message));
  EXPECT_THAT([&] { optimizer->update_slice(w, g, one_more); },
              ThrowsMessage<std::invalid_argument>(message));
  if (count == 0) return;
  const std::vector<std::span<float>> too_long(count, std::span(longer));
  EXPECT_THAT([&] { optimizer->update_slice(w, g, too_long); },
              ThrowsMessage<std::invalid_argument>(message));
}

TEST(MakeOptimizer, KnowsEachOfItsNames) {
  EXPECT_THAT(optimizer_names(), ElementsAre("sgd", "lars", "adam", "adamw", "lamb", "adadelta"));
  for (const std::string& name : optimizer_names()) {
    OptimizerOptions options;
    options.name = name;
    EXPECT_NE(make_optimizer<double>(options), nullptr);
  }
  OptimizerOptions options;
  options.name = "sdg";
  EXPECT_THAT([&] { make_optimizer<float>(options); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown optimizer 'sdg'; valid names: sgd, lars, adam, adamw, lamb, adadelta"));
}

TEST(MakeOptimizer, AdamwIsNotAdam) {
  OptimizerOptions options;
  options.weight_decay = 0.1;
  options.name = "adam";
  const auto adam = train_in_slices<double>(options, {});
  options.name = "adamw";
  EXPECT_GT(std::abs(train_in_slices<double>(options, {})[0] - adam[0]), 1e-4);
}

TEST(MomentumForm, IsKnownByName) {
  EXPECT_EQ(momentum_form("torch"), MomentumForm::torch);
  EXPECT_EQ(momentum_form("v"), MomentumForm::v);
  EXPECT_EQ(momentum_form("v-corrected"), MomentumForm::v_corrected);
  for (const std::string& name : momentum_form_names()) EXPECT_NO_THROW(momentum_form(name));
  EXPECT_THAT([] { momentum_form("u"); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown momentum form 'u'; valid names: torch, v, v-corrected"));
}

TEST(LarsForm, IsKnownByName) {
  EXPECT_EQ(lars_form("paper"), LarsForm::paper);
  EXPECT_EQ(lars_form("unscaled"), LarsForm::unscaled);
  EXPECT_EQ(lars_form("clip"), LarsForm::clip);
  EXPECT_EQ(lars_form("study"), LarsForm::study);
  for (const std::string& name : lars_form_names()) EXPECT_NO_THROW(lars_form(name));
  EXPECT_THAT([] { lars_form("larc"); },
              ThrowsMessage<std::invalid_argument>(
                  "unknown form of lars 'larc'; valid names: paper, unscaled, clip, study"));
}

}  // namespace
}  // namespace rubato::optim
