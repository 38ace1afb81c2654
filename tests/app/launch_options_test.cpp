#include "app/launch_options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "app/failure.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

using Words = std::vector<std::string>;

const Words train{"--data", "digits", "--batch-size", "8", "--out", "runs/a"};

Words command_line(Words own, const Words& options = train) {
  own.emplace_back("--");
  own.insert(own.end(), options.begin(), options.end());
  return own;
}

LaunchPlan plan_of(const Words& own, const Words& options = train) {
  const auto split = split_launch_words(command_line(own, options));
  return launch_plan(launch_table().parse(split.own), split, "/bin/rubato");
}

std::string refusal(const Words& words) {
  try {
    split_launch_words(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(LaunchOptions, LeaveTheTrainingsToTheTraining) {
  const auto plan = plan_of({"--ranks", "2:4", "--mpirun", " mpirun  -H a,b "});
  EXPECT_EQ(plan.directory, "runs/a");
  EXPECT_EQ(plan.launcher, (Words{"mpirun", "-H", "a,b"}));
  EXPECT_EQ(plan.limits.least, 2U);
  EXPECT_EQ(plan.limits.most, 4U);
  EXPECT_EQ(plan.command, (Words{"/bin/rubato", "train", "--data", "digits", "--batch-size", "8",
                                 "--out", "runs/a", "--preempt-exit-code", "75", "--resume"}));
}

TEST(LaunchOptions, AddResumeOnce) {
  Words options = train;
  options.emplace_back("--resume");
  const auto command = plan_of({}, options).command;
  EXPECT_EQ(std::count(command.begin(), command.end(), "--resume"), 1);
}

TEST(LaunchOptions, HaveDefaults) {
  const auto plan = plan_of({});
  EXPECT_EQ(plan.launcher, Words{"mpirun"});
  EXPECT_EQ(plan.limits.least, 1U);
  EXPECT_GE(plan.limits.most, 1U);
  EXPECT_EQ(plan.most_failures, 10U);
  EXPECT_EQ(plan.backoff_seconds, 1);
  EXPECT_EQ(plan.settle_time.count(), 0.5);
  EXPECT_EQ(plan.stop_grace.count(), 30);
}

TEST(LaunchOptions, RefuseWhatCouldNotGoOn) {
  EXPECT_NE(refusal(train).find("options of the training are missing"), std::string::npos);
  EXPECT_NE(refusal(command_line({}, {"--data", "digits"})).find("give --out DIR"),
            std::string::npos);
  Words options = train;
  options.emplace_back("--overwrite");
  EXPECT_NE(refusal(command_line({}, options)).find("--overwrite would begin anew"),
            std::string::npos);
  EXPECT_NE(refusal(command_line({}, {"--dat", "digits"})).find("did you mean --data?"),
            std::string::npos);
}

// At least 100 samples a rank and at most 250 in all: two ranks.
TEST(LaunchOptions, UseTheRanksOnWhichTheBoundsOfAnAdaptiveRunCanBeMet) {
  EXPECT_FALSE(plan_of({}).usable_ranks);
  const Words options{"--data", "digits", "--adaptive", "max=250,local=100:120", "--out", "runs/a"};
  const auto plan = plan_of({"--ranks", "1:4"}, options);
  ASSERT_TRUE(plan.usable_ranks);
  EXPECT_EQ(plan.usable_ranks(4), 2U);
  EXPECT_EQ(plan.usable_ranks(2), 2U);
  EXPECT_EQ(plan.usable_ranks(1), 1U);
  EXPECT_EQ(plan.usable_ranks(0), 0U);
  try {
    plan_of({"--ranks", "3:4"}, options);
    ADD_FAILURE();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("; 2 ranks would do"), std::string::npos);
  }
}

TEST(LaunchOptions, KnowTheCodeThatTheTrainingStopsWith) {
  EXPECT_EQ(plan_of({}).stopped_code, 75);
  const TemporaryDirectory directory;
  const Words options{"--data", "digits", "--batch-size", "8", "--out", directory.path().string()};
  std::ofstream(directory.path() / "config.ini") << "preempt-exit-code = 99\nbatch-size = 7\n";
  EXPECT_EQ(plan_of({}, options).stopped_code, 99) << "of the run that it goes on with";
  EXPECT_EQ(plan_of({}, options).command.end()[-2], "99")
      << "and told, for a checkpoint may differ";
  Words more = options;
  more.insert(more.end(), {"--preempt-exit-code", "98"});
  EXPECT_EQ(plan_of({}, more).stopped_code, 98) << "the command line wins";
  EXPECT_EQ(plan_of({}, more).command.end()[-2], "98") << "and is not given twice";
  std::ofstream(directory.path() / "config.ini") << "damaged";
  EXPECT_EQ(plan_of({}, options).stopped_code, 75);
  more.back() = "0";
  EXPECT_EQ(refusal(command_line({}, more)),
            "--preempt-exit-code 0: expected a whole number from 1 to 2^64-1");
}

TEST(LaunchOptions, RefuseMoreRanksThanThereIsRoomFor) {
  EXPECT_THROW(plan_of({"--ranks", "1:1000000"}), UsageError);
  EXPECT_THROW(plan_of({"--ranks", "65537", "--mpirun", "srun"}), UsageError);
}

TEST(LaunchOptions, ATimeScaleNeedsATrace) {
  const auto options = launch_table().parse({"--time-scale", "2"});
  EXPECT_THROW(capacity_source(options, {}), UsageError);
  EXPECT_EQ(capacity_source(launch_table().parse(Words{}), {.least = 1, .most = 3})->devices_now(),
            3U);
  EXPECT_THROW(launch_table().parse({"--capacity-file", "a", "--capacity-trace", "b"}), UsageError);
}

}  // namespace
}  // namespace rubato::app
