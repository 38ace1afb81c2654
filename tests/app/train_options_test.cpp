#include "app/train_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"

namespace rubato::app {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(TrainOptions, ExplainEveryDataSetAndEveryModelInTheHelp) {
  const std::string help = train_table().help();
  for (const auto& name : data::data_spec_names()) EXPECT_THAT(help, HasSubstr("\n  " + name));
  for (const auto& name : nn::model_names()) {
    EXPECT_THAT(help, AnyOf(HasSubstr("\n  " + name), HasSubstr(", " + name)));
  }
}

TEST(TrainOptions, AreAllInTheRecordButThoseOfOneInvocation) {
  const auto ini =
      train_table()
          .parse({"--data", "digits", "--batch-size", "32", "--updates", "5", "--out", "runs/a",
                  "--overwrite", "--log-every", "2", "--progress", "never", "--format", "json"})
          .as_ini();
  for (const auto* line : {"data = digits\n", "batch-size = 32\n", "updates = 5\n", "seed = 42\n",
                           "model = mlp:512,512\n", "momentum = 0.9\n", "sum = exact\n"}) {
    EXPECT_THAT(ini, HasSubstr(line));
  }
  for (const auto* name : {"out", "overwrite", "log-every", "progress", "format", "config"}) {
    EXPECT_THAT(ini, Not(HasSubstr(std::string("\n") + name + " = ")));
  }
}

TEST(TrainOptions, RecordNothingThatTheRunDoesNotUse) {
  const auto ini = train_table().parse({"--optimizer", "adam", "--schedule", "step"}).as_ini();
  EXPECT_THAT(ini, HasSubstr("beta1 = 0.9\n"));
  EXPECT_THAT(ini, HasSubstr("gamma = 0.1\n"));
  for (const auto* name : {"momentum", "momentum-form", "nesterov", "span", "end-lr"}) {
    EXPECT_THAT(ini, Not(HasSubstr(std::string("\n") + name + " = ")));
  }
}

}  // namespace
}  // namespace rubato::app
