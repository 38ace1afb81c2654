// The page to the letter, and the same facts as JSON.
#include "app/evaluation_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::Not;

EvaluationFacts facts() {
  return {.file = "runs/a/checkpoints/ckpt-133.h5",
          .update = 133,
          .epoch = 12,
          .training_samples = 17256,
          .model = "mlp:8",
          .parameters = 610,
          .data = "digits",
          .test_samples = 8,
          .is_runs_test_set = true,
          .result = {{0.25, 0.625}, 5, {{5, 4, 0.5}, {0, 0, 0}, {3, 1, 1.5}}},
          .history = {{{44, 1, 0.5, 0.5}, {88, 2.25, 1e9, 0.75}, {133, 12, 0.25, 0.75}}}};
}

std::string text_of(const EvaluationFacts& facts) {
  std::ostringstream out;
  print_as_text(out, facts);
  return out.str();
}

nlohmann::json json_of(const EvaluationFacts& facts) {
  std::ostringstream out;
  print_as_json(out, facts);
  return nlohmann::json::parse(out.str());
}

TEST(EvaluationReport, IsAPageForPeople) {
  EXPECT_EQ(text_of(facts()),
            "runs/a/checkpoints/ckpt-133.h5: update 133, epoch 12, 17256 training samples used\n"
            "mlp:8, 610 parameters; digits, 8 test samples, those of the training\n"
            "accuracy 62.50 % (5 of 8), loss 0.2500\n"
            "\n"
            "   label   samples   correct   accuracy        loss\n"
            "       0         5         4    80.00 %      0.1000\n"
            "       1         0         0          -           -\n"
            "       2         3         1    33.33 %      0.5000\n"
            "\n"
            "during training: 3 evaluations, the best after update 88 with 75.00 %\n"
            "    update     epoch   accuracy        loss\n"
            "        44      1.00    50.00 %      0.5000\n"
            "        88      2.25    75.00 %       1e+09\n"
            "       133     12.00    75.00 %      0.2500\n");
}

TEST(EvaluationReport, SaysWhatIsNotThere) {
  EvaluationFacts other = facts();
  other.is_runs_test_set = false;
  other.history->clear();
  EXPECT_THAT(text_of(other), HasSubstr("8 test samples, not those of the training\n"));
  EXPECT_THAT(text_of(other), HasSubstr("\nduring training: no evaluation\n"));
  other.is_runs_test_set.reset();
  other.history.reset();
  EXPECT_THAT(text_of(other), HasSubstr("8 test samples\n"));
  EXPECT_THAT(text_of(other), Not(HasSubstr("during training")));
  const auto document = json_of(other);
  for (const char* name : {"is_test_set_of_training", "history", "best"}) {
    EXPECT_FALSE(document.contains(name)) << name;
  }
}

TEST(EvaluationReport, AsJsonHoldsTheSame) {
  EvaluationFacts all = facts();
  all.result.all.loss = std::numeric_limits<double>::quiet_NaN();
  const auto document = json_of(all);
  EXPECT_EQ(document["file"], "runs/a/checkpoints/ckpt-133.h5");
  EXPECT_EQ(document["training_samples_used"], 17256);
  EXPECT_EQ(document["is_test_set_of_training"], true);
  EXPECT_EQ(document["accuracy"], 0.625);
  EXPECT_EQ(document["correct"], 5);
  EXPECT_TRUE(document["loss"].is_null());
  ASSERT_EQ(document["classes"].size(), 3U);
  EXPECT_EQ(document["classes"][0]["accuracy"], 0.8);
  EXPECT_EQ(document["classes"][2]["label"], 2);
  EXPECT_EQ(document["classes"][2]["loss"], 0.5);
  EXPECT_TRUE(document["classes"][1]["accuracy"].is_null());
  EXPECT_EQ(document["history"].size(), 3U);
  EXPECT_EQ(document["history"][1]["epoch"], 2.25);
  EXPECT_EQ(document["best"]["update"], 88);
}

TEST(EvaluationReport, TheBestIsTheFirstOfEquals) {
  EXPECT_FALSE(best_of(std::vector<PastEvaluation>{}).has_value());
  EXPECT_EQ(best_of(std::vector<PastEvaluation>{{1, 0, 0, 0.5}, {2, 0, 0, 0.75}, {3, 0, 0, 0.75}})
                ->update,
            2U);
}

TEST(EvaluationReport, NamesFromAFileDoNothingToATerminal) {
  EvaluationFacts odd = facts();
  odd.model = "mlp\x1b[2J";
  EXPECT_THAT(text_of(odd), HasSubstr("mlp\\x1b[2J, 610 parameters"));
}

}  // namespace
}  // namespace rubato::app
