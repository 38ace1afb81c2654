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

std::optional<double> samples_of(const std::vector<std::string>& words, std::uint64_t cores = 1) {
  const auto run = run_of(words);
  return samples_of_a_core(run, runtime::open_inputs(run), cores);
}

// 1438 images to train on, of which 1408 fit into 44 batches; 359 are evaluated after each epoch.
TEST(CellTrial, CountsSamplesAndEvaluations) {
  EXPECT_DOUBLE_EQ(*samples_of({"--batch-size=32", "--epochs=1"}), 1408 + 359 / 3.0);
  EXPECT_DOUBLE_EQ(*samples_of({"--batch-size=32", "--epochs=6"}), 6 * 1408 + 6 * 359 / 3.0);
  EXPECT_DOUBLE_EQ(*samples_of({"--batch-size=32", "--epochs=1", "--evaluate-every=352"}),
                   1408 + 4 * 359 / 3.0)
      << "one of them at the epoch's end";
  EXPECT_DOUBLE_EQ(*samples_of({"--batch-size=32", "--epochs=1", "--evaluate-every=353"}),
                   1408 + 4 * 359 / 3.0);
  EXPECT_DOUBLE_EQ(*samples_of({"--batch-size=32", "--updates=22"}), 704 + 359 / 6.0);
}

TEST(CellTrial, SharesNoMoreMinibatchesThanThereAre) {
  const std::vector<std::string> words{"--batch-size=64", "--epochs=3", "--minibatch=32"};
  const double alone = *samples_of(words);
  EXPECT_DOUBLE_EQ(*samples_of(words, 2), alone / 2);
  EXPECT_DOUBLE_EQ(*samples_of(words, 8), alone / 2);
}

TEST(CellTrial, MeasuresOnce) {
  CellTrial trial(4, 1);
  const double once = *trial.seconds(run_of({"--batch-size=64", "--epochs=1"}));
  EXPECT_GT(once, 0);
  EXPECT_LT(once, 100);
  EXPECT_DOUBLE_EQ(*trial.seconds(run_of({"--batch-size=64", "--epochs=8"})), 8 * once)
      << "four ranks have one core";
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
