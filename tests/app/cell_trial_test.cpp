#include "app/cell_trial.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "app/run_from_options.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

runtime::RunOptions run_of(const std::vector<std::string>& words) {
  std::vector<std::string> all{"--data=digits", "--model=mlp:64"};
  all.insert(all.end(), words.begin(), words.end());
  return run_from(train_table().parse(all));
}

// Without the second in which it begins. The speed is measured once for each trial.
double seconds_of(CellTrial& trial, const std::vector<std::string>& words) {
  return trial.seconds(run_of(words)).value() - 1;
}

// 1438 images to train on, 359 that are evaluated after each epoch; 1408 fit into 44 batches.
TEST(CellTrial, CountsSamplesAndEvaluations) {
  CellTrial trial(1, 1);
  const double once = seconds_of(trial, {"--batch-size=32", "--epochs=1"});
  EXPECT_GT(once, 0);
  EXPECT_LT(once, 10);
  EXPECT_NEAR(seconds_of(trial, {"--batch-size=32", "--epochs=8"}), 8 * once, 1e-9);
  const double more = seconds_of(trial, {"--batch-size=32", "--epochs=1", "--evaluate-every=352"});
  EXPECT_NEAR(more / once, (1408 + 5 * 359 / 3.0) / (1408 + 359 / 3.0), 1e-9);
}

TEST(CellTrial, SharesMinibatchesAmongRanksThatHaveACore) {
  const std::vector<std::string> words{"--batch-size=64", "--epochs=50", "--minibatch=32"};
  CellTrial alone(1, 8);
  const double one = seconds_of(alone, words);
  CellTrial many(8, 8);
  EXPECT_LT(seconds_of(many, words), one) << "two of them have a minibatch";
  CellTrial crowded(8, 1);
  EXPECT_GT(seconds_of(crowded, words), 0.6 * one);
}

TEST(CellTrial, KnowsNoEndWhereThereIsNone) {
  CellTrial trial(1, 1);
  EXPECT_FALSE(trial.seconds(run_of({"--batch-size=32", "--until-progress=9", "--rule=adascale"})));
}

TEST(CellTrial, SaysWhatTheTrainingWouldSay) {
  CellTrial trial(1, 1);
  EXPECT_THROW(trial.seconds(run_of({"--batch-size=2000", "--epochs=1"})), std::invalid_argument);
  EXPECT_THROW(trial.seconds(run_of({"--trace=nowhere.csv"})), data::MissingFileError);
}

}  // namespace
}  // namespace rubato::app
