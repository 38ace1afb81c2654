#include "app/plan_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"
#include "data/errors.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Options plan_parsed(const std::vector<std::string>& arguments) {
  auto options = size_options();
  for (const auto& option : plan_options()) options.push_back(option);
  for (const auto& option : order_options(/*measures_ranks=*/false)) options.push_back(option);
  OptionTable::About about{.command = "plan"};
  about.alternatives = plan_alternatives();
  return OptionTable(about, options).parse(arguments);
}

TEST(PlanOptions, EveryChoiceIsAWordOfTheDataFolder) {
  for (const auto& option : plan_options()) {
    for (const auto& word : option.choices) {
      if (option.name == "trace-end") {
        EXPECT_EQ(data::to_string(data::trace_end(word)), word);
      }
      if (option.name == "epoch-end") {
        EXPECT_EQ(data::to_string(data::epoch_end(word)), word);
      }
    }
  }
}

TEST(PlanOptions, ReachThePlan) {
  const auto options = plan_parsed({"--batch-size", "6", "--minibatch", "4", "--updates", "3",
                                    "--trace-end", "stop", "--epoch-end", "carry"});
  const auto plan = make_plan(read_trace(options), options, 10);
  EXPECT_EQ(plan.trace().batch_size(0), 6U);
  EXPECT_EQ(plan.options().samples, 10U);
  EXPECT_EQ(plan.options().minibatch, 4U);
  EXPECT_EQ(plan.options().updates, 3U);
  EXPECT_EQ(plan.options().epochs, std::nullopt);
  EXPECT_EQ(plan.options().trace_end, data::TraceEnd::stop);
  EXPECT_EQ(plan.options().epoch_end, data::EpochEnd::carry);
}

TEST(PlanOptions, BlameTheFileOrTheOption) {
  const TemporaryFile file("batchsize\n50\n");
  const auto from_file = plan_parsed({"--trace", file.path(), "--minibatch", "4"});
  EXPECT_THROW(make_plan(read_trace(from_file), from_file, 10), data::ContentError);
  const auto from_option = plan_parsed({"--batch-size", "50", "--minibatch", "4", "--epochs", "1"});
  EXPECT_THAT([&] { make_plan(read_trace(from_option), from_option, 10); },
              ThrowsMessage<UsageError>(HasSubstr("--batch-size: ")));
  EXPECT_THROW(read_trace(plan_parsed({})), UsageError);
}

TEST(PlanOptions, WantAnEnd) {
  const auto endless = plan_parsed({"--batch-size", "5", "--minibatch", "5"});
  EXPECT_THROW(require_end(make_plan(read_trace(endless), endless, 10)), UsageError);
}

TEST(PlanOptions, TakeTheSizeFromANumberOrADataSet) {
  EXPECT_EQ(training_samples(plan_parsed({"--samples", "7"})), 7U);
  EXPECT_EQ(training_samples(plan_parsed({"--data", "digits"})), 1438U);
  EXPECT_THROW(training_samples(plan_parsed({})), UsageError);
}

}  // namespace
}  // namespace rubato::app
