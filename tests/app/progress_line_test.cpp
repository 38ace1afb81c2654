// What is written to standard error, to the letter. Terminals: command_train_test.py.
#include "app/progress_line.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

namespace rubato::app {
namespace {

const std::string erase = "\r\x1b[K";

// 10 updates of 100 samples in all; each takes a second.
runtime::StepReport step_number(std::uint64_t number) {
  runtime::StepReport report;
  report.update = number;
  report.epochs_done = 0.25 * static_cast<double>(number);
  report.batch_size = 100;
  report.samples = 100 * number;
  report.learning_rate = 0.05;
  report.gain = 1.25;
  report.loss = 0.5;
  report.seconds = 1;
  return report;
}

runtime::RunFacts run_facts() {
  runtime::RunFacts facts;
  facts.total_updates = 10;
  facts.total_samples = 1000;
  return facts;
}

std::string written(const std::function<void(ProgressLine&)>& story) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line;
    line.begin(run_facts());
    story(line);
  }
  return testing::internal::GetCapturedStderr();
}

void wait_for_the_next_line() { std::this_thread::sleep_for(std::chrono::milliseconds(220)); }

TEST(ClockTime, HasHoursWhereThereAreAny) {
  EXPECT_EQ(clock_time(6.6), "0:07");
  EXPECT_EQ(clock_time(750), "12:30");
  EXPECT_EQ(clock_time(3 * 3600 + 5 * 60), "3:05:00");
}

TEST(TerminalLine, TakesThePlaceOfItself) {
  testing::internal::CaptureStderr();
  {
    TerminalLine line;
    line.clear();
    EXPECT_TRUE(line.is_due());
    line.show("one");
    EXPECT_FALSE(line.is_due()) << "nobody could read it";
    line.show("two");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), erase + "one" + erase + "two" + erase);
}

TEST(ProgressLine, SaysHowFarTheRunIs) {
  const auto text = written([](ProgressLine& line) {
    line.update(step_number(1));
    wait_for_the_next_line();
    line.update(step_number(2));
  });
  const std::string facts = "  loss 0.5000  batch 100  lr 0.05  gain 1.25";
  EXPECT_EQ(text, erase + "update 1/10  epoch 0.25" + facts + erase + "update 2/10  epoch 0.50" +
                      facts + "  100 samples/s  0:08 left" + erase);
}

TEST(ProgressLine, IsRewrittenAFewTimesASecondOnly) {
  const auto text = written([](ProgressLine& line) {
    for (std::uint64_t number = 1; number <= 10; ++number) line.update(step_number(number));
  });
  EXPECT_NE(text.find("update 1/10"), std::string::npos);
  EXPECT_EQ(text.find("update 2/10"), std::string::npos);
}

TEST(ProgressLine, IsTakenAwayOnceAndOnlyIfItIsThere) {
  EXPECT_EQ(written([](ProgressLine& line) {
              line.clear();
              line.evaluation({});
              line.end({});
            }),
            "");
  const auto text = written([](ProgressLine& line) {
    line.update(step_number(1));
    line.evaluation({});
    line.clear();
    line.end({});
  });
  EXPECT_EQ(text.rfind(erase), text.size() - erase.size());
  EXPECT_EQ(text.rfind(erase, text.size() - erase.size() - 1), 0U);
}

TEST(ProgressLine, HasNoEndWhereTheRunHasNone) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line;
    line.begin({});
    auto slow = step_number(1);
    line.update(slow);
    wait_for_the_next_line();
    line.update(step_number(2));
  }
  const auto text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("update 2  epoch"), std::string::npos) << text;
  EXPECT_EQ(text.find("left"), std::string::npos) << text;
}

TEST(ProgressLine, ShowsHoursWhereItTakesHours) {
  testing::internal::CaptureStderr();
  {
    ProgressLine line;
    auto facts_of_long_run = run_facts();
    facts_of_long_run.total_samples = 200 + 100 * 3725;
    line.begin(facts_of_long_run);
    line.update(step_number(1));
    wait_for_the_next_line();
    line.update(step_number(2));
  }
  const auto text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("  1:02:05 left"), std::string::npos) << text;
}

}  // namespace
}  // namespace rubato::app
