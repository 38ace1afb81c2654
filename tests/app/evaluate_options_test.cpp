// What the options leave of the run's own configuration.
#include "app/evaluate_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/failure.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

using Words = std::vector<std::string>;
using testing::HasSubstr;
using testing::StrEq;
using testing::ThrowsMessage;

std::string configuration(const Words& words) { return train_table().parse(words).as_ini(); }

EvaluationTask task(const Words& words, const std::string& configuration) {
  Words all{"runs/a"};
  all.insert(all.end(), words.begin(), words.end());
  return evaluation_task(evaluate_table().parse(all), configuration);
}

TEST(EvaluateOptions, TheRunItselfSaysWhatIsEvaluated) {
  const EvaluationTask found =
      task({}, configuration({"--data", "csv:a.csv", "--test-every", "5", "--label-column", "y",
                              "--model", "linear", "--isa", "avx2", "--adaptive", "max=64"}));
  EXPECT_EQ(found.data.spec, "csv:a.csv");
  EXPECT_EQ(found.data.test_spec, std::nullopt);
  EXPECT_EQ(found.data.test_every, 5U);
  EXPECT_EQ(found.data.label_column, "y");
  EXPECT_EQ(found.model, "linear");
  EXPECT_EQ(found.backend, "auto");
  EXPECT_EQ(found.isa, "avx2");
}

TEST(EvaluateOptions, OptionsComeAboveIt) {
  const std::string run = configuration({"--data", "mnist:/old", "--test-data", "idx:/old/test",
                                         "--batch-size", "8", "--model", "mnist"});
  const EvaluationTask moved =
      task({"--data", "mnist:/new", "--backend", "eigen", "--isa", "avx2"}, run);
  EXPECT_EQ(moved.data.spec, "mnist:/new");
  EXPECT_EQ(moved.data.test_spec, "idx:/old/test");
  EXPECT_EQ(moved.backend, "eigen");
  EXPECT_EQ(moved.isa, "avx2");
  const EvaluationTask other = task({"--test-every", "7", "--model", "linear"}, run);
  EXPECT_EQ(other.data.test_spec, std::nullopt);  // what excludes it was said later
  EXPECT_EQ(other.data.test_every, 7U);
  EXPECT_EQ(other.model, "linear");
  EXPECT_EQ(task({"--backend", "onednn-direct"}, run).backend, "onednn-direct");
}

TEST(EvaluateOptions, StandardisationIsTheRuns) {
  const std::string run = configuration({"--data", "cifar10", "--batch-size", "8", "--data-mean",
                                         "0.5,0.25,0.125", "--data-deviation", "2"});
  const EvaluationTask found = task({"--data-deviation", "4"}, run);
  EXPECT_EQ(found.data.mean, (std::vector<float>{0.5F, 0.25F, 0.125F}));
  EXPECT_EQ(found.data.deviation, std::vector<float>{4});
}

TEST(EvaluateOptions, WithoutAConfigurationDataAndModelMustBeGiven) {
  const EvaluationTask found = task({"--data", "digits", "--model", "linear"}, "");
  EXPECT_EQ(found.data.spec, "digits");
  EXPECT_EQ(found.model, "linear");
  for (const Words& words : {Words{}, Words{"--data", "digits"}, Words{"--model", "linear"}}) {
    EXPECT_THAT([&] { task(words, ""); },
                ThrowsMessage<UsageError>(StrEq(
                    "runs/a has no configuration of a run, as one of a program of its own has "
                    "none: give --data SPEC and --model SPEC")));
  }
}

TEST(EvaluateOptions, RefusesWhatItDoesNotKnow) {
  const std::string run = configuration({"--data", "digits", "--batch-size", "8"});
  EXPECT_THAT(
      [&] {
        task({"--data", "digit"}, run);
      },
      ThrowsMessage<UsageError>(HasSubstr("did you mean \"digits\"?")));
  EXPECT_THAT(
      [&] {
        task({"--test-data", "cifar1:x"}, run);
      },
      ThrowsMessage<UsageError>(HasSubstr("did you mean \"cifar10\"?")));
  EXPECT_THAT(
      [&] {
        task({"--model", "resnet:1"}, run);
      },
      ThrowsMessage<UsageError>(HasSubstr("unknown model \"resnet\"")));
  EXPECT_THAT([&] { task({}, run + "colour = red\n"); },
              ThrowsMessage<data::ContentError>(
                  HasSubstr("the checkpoint's configuration: unknown key \"colour\"")));
  EXPECT_THROW(task({"--test-data", "digits", "--test-every", "5"}, run), UsageError);
  EXPECT_THROW(task({"runs/b"}, run), UsageError);
  EXPECT_THROW(evaluate_table().parse(Words{}), UsageError);
}

}  // namespace
}  // namespace rubato::app
