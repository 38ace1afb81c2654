#include "app/learning_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/failure.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"

namespace rubato::app {
namespace {

Options parsed(const std::vector<std::string>& arguments) {
  return OptionTable({.command = "train"}, learning_options()).parse(arguments);
}

bool is_taken(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

TEST(LearningOptions, AreThoseOfTheirOptimizer) {
  for (const auto& name : optim::optimizer_names()) {
    const bool is_sgd = name == "sgd", is_adadelta = name == "adadelta";
    EXPECT_EQ(is_taken({"--optimizer", name, "--momentum", "0.5"}), is_sgd) << name;
    EXPECT_EQ(is_taken({"--optimizer", name, "--momentum-form", "v"}), is_sgd) << name;
    EXPECT_EQ(is_taken({"--optimizer", name, "--nesterov"}), is_sgd) << name;
    for (const auto* option : {"--beta1", "--beta2", "--epsilon"}) {
      EXPECT_EQ(is_taken({"--optimizer", name, option, "0.5"}), !is_sgd && !is_adadelta)
          << name << ' ' << option;
    }
    for (const auto* option : {"--rho", "--adadelta-epsilon"}) {
      EXPECT_EQ(is_taken({"--optimizer", name, option, "0.5"}), is_adadelta) << name << option;
    }
    EXPECT_TRUE(is_taken({"--optimizer", name, "--weight-decay", "0.1"}));
  }
}

TEST(LearningOptions, AreThoseOfTheirSchedule) {
  const auto expect = [](const std::string& option, const std::vector<std::string>& schedules) {
    for (const auto& name : optim::schedule_names()) {
      const bool is_its = std::find(schedules.begin(), schedules.end(), name) != schedules.end();
      EXPECT_EQ(is_taken({"--schedule", name, option, "1"}), is_its) << name << ' ' << option;
    }
  };
  expect("--gamma", {"step", "multistep"});
  expect("--step-size", {"step"});
  expect("--milestones", {"multistep"});
  expect("--span", {"cosine", "polynomial"});
  expect("--end-lr", {"cosine", "polynomial"});
  expect("--power", {"polynomial"});
  expect("--warmup", optim::schedule_names());
}

TEST(LearningOptions, HaveNoValueWhereTheyHaveNoMeaning) {
  EXPECT_EQ(parsed({}).number_if("momentum"), 0.9);
  EXPECT_EQ(parsed({"--optimizer", "adam"}).number_if("momentum"), std::nullopt);
  EXPECT_EQ(parsed({"--optimizer", "adam"}).number_if("beta2"), 0.999);
  EXPECT_FALSE(parsed({"--optimizer", "adam"}).flag("nesterov"));
}

}  // namespace
}  // namespace rubato::app
