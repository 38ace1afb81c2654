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

Options learning_parsed(const std::vector<std::string>& arguments) {
  return OptionTable({.command = "train"}, learning_options()).parse(arguments);
}

bool is_taken(const std::vector<std::string>& arguments) {
  try {
    learning_parsed(arguments);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

TEST(LearningOptions, AreThoseOfTheirOptimizer) {
  const auto expect = [](const std::vector<std::string>& words,
                         const std::vector<std::string>& optimizers) {
    for (const auto& name : optim::optimizer_names()) {
      std::vector<std::string> arguments{"--optimizer", name};
      arguments.insert(arguments.end(), words.begin(), words.end());
      const bool is_its = std::find(optimizers.begin(), optimizers.end(), name) != optimizers.end();
      EXPECT_EQ(is_taken(arguments), is_its) << name << ' ' << words[0];
    }
  };
  expect({"--momentum", "0.5"}, {"sgd", "lars"});
  expect({"--momentum-form", "v"}, {"sgd"});
  expect({"--nesterov"}, {"sgd"});
  expect({"--lars-form", "clip"}, {"lars"});
  expect({"--trust", "0.02"}, {"lars"});
  expect({"--lars-epsilon", "0"}, {"lars"});
  expect({"--beta1", "0.5"}, {"adam", "adamw", "lamb"});
  expect({"--beta2", "0.5"}, {"adam", "adamw", "lamb"});
  expect({"--epsilon", "0.5"}, {"adam", "adamw"});
  expect({"--lamb-epsilon", "0.5"}, {"lamb"});
  expect({"--rho", "0.5"}, {"adadelta"});
  expect({"--adadelta-epsilon", "0.5"}, {"adadelta"});
  expect({"--weight-decay", "0.1"}, optim::optimizer_names());
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
  EXPECT_TRUE(is_taken({"--schedule", "polynomial", "--polynomial-form", "study"}));
  EXPECT_FALSE(is_taken({"--schedule", "cosine", "--polynomial-form", "study"}));
  expect("--warmup", optim::schedule_names());
}

TEST(LearningOptions, HaveNoValueWhereTheyHaveNoMeaning) {
  EXPECT_EQ(learning_parsed({}).number_if("momentum"), 0.9);
  EXPECT_EQ(learning_parsed({"--optimizer", "adam"}).number_if("momentum"), std::nullopt);
  EXPECT_EQ(learning_parsed({"--optimizer", "adam"}).number_if("beta2"), 0.999);
  EXPECT_FALSE(learning_parsed({"--optimizer", "adam"}).flag("nesterov"));
}

}  // namespace
}  // namespace rubato::app
