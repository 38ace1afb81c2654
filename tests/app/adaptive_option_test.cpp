#include "app/adaptive_option.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/failure.hpp"
#include "app/train_options.hpp"

namespace rubato::app {
namespace {

using testing::StrEq;
using testing::ThrowsMessage;

std::optional<optim::BatchLimits> limits_with(std::vector<std::string> words) {
  words.insert(words.begin(), {"--data", "digits"});
  return batch_limits(train_table().parse(words));
}

void expect_adaptive_refused(const std::vector<std::string>& words, const std::string& sentence) {
  EXPECT_THAT([&] { limits_with(words); }, ThrowsMessage<UsageError>(StrEq(sentence)));
}

TEST(AdaptiveOption, SaysBetweenWhichBatchesARunMayChoose) {
  const auto limits = limits_with({"--adaptive", "max=1028,local=32:128,initial=64"});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->initial_batch, 64U);
  EXPECT_EQ(limits->max_batch_size, 1028U);
  EXPECT_EQ(limits->local_bounds->lower, 32U);
  EXPECT_EQ(limits->local_bounds->upper, 128U);
  EXPECT_FALSE(limits->fixed_minibatch);
  EXPECT_FALSE(limits->may_go_below_initial);
  EXPECT_TRUE(limits->has_accumulation);
}

TEST(AdaptiveOption, LeavesOutWhatIsNotSaid) {
  EXPECT_FALSE(limits_with({"--batch-size", "8"}));
  const auto most = limits_with({"--adaptive", "max=100", "--minibatch", "16"});
  EXPECT_EQ(most->initial_batch, 16U);
  EXPECT_FALSE(most->local_bounds);
  const auto local = limits_with({"--adaptive", "local=8:64", "--below-initial"});
  EXPECT_FALSE(local->max_batch_size);
  EXPECT_EQ(local->initial_batch, 32U);
  EXPECT_TRUE(local->may_go_below_initial);
}

TEST(AdaptiveOption, TakesLimitsThatMeet) {
  const auto limits = limits_with({"--adaptive", "max=64,local=32:32,initial=64"});
  EXPECT_EQ(limits->max_batch_size, limits->initial_batch);
  EXPECT_EQ(limits->local_bounds->lower, limits->local_bounds->upper);
  EXPECT_TRUE(limits_with({"--adaptive", "max=64,local=32:40", "--fixed-minibatch"}));
  EXPECT_TRUE(limits_with({"--adaptive", "max=64,local=20:32", "--fixed-minibatch"}));
}

TEST(AdaptiveOption, MayFixTheMinibatch) {
  const auto limits =
      limits_with({"--adaptive", "max=512", "--fixed-minibatch", "--minibatch", "24"});
  EXPECT_EQ(limits->fixed_minibatch, 24U);
  expect_adaptive_refused(
      {"--adaptive", "max=512,local=8:16", "--fixed-minibatch"},
      "--fixed-minibatch: the minibatch is 32, expected one within local=8:16; give "
      "--minibatch N");
  expect_adaptive_refused({"--fixed-minibatch", "--batch-size", "8"},
                          "--fixed-minibatch needs --adaptive");
}

TEST(AdaptiveOption, RefusesWhatMakesNoSense) {
  const std::string expected =
      ", expected max=N, local=MIN:MAX or both, and perhaps initial=N, with commas between";
  expect_adaptive_refused(
      {"--adaptive", "max=1028,local=128:32"},
      "--adaptive: found \"local=128:32\", expected local=MIN:MAX with the smaller bound"
      " first");
  expect_adaptive_refused(
      {"--adaptive", "max=48,initial=64"},
      "--adaptive: the maximum, 48, is below the initial batch, 64; give initial=N, or "
      "a larger maximum");
  expect_adaptive_refused({"--adaptive", "initial=64"},
                          "--adaptive: found \"initial=64\"" + expected);
  expect_adaptive_refused({"--adaptive", "most=64"}, "--adaptive: found \"most=64\"" + expected);
  expect_adaptive_refused({"--adaptive", "max=64,"}, "--adaptive: found \"max=64,\"" + expected);
  expect_adaptive_refused({"--adaptive", "max=64,,local=1:2"}, "--adaptive: found \"\"" + expected);
  expect_adaptive_refused({"--adaptive", "max=64,max=65"},
                          "--adaptive: max is given twice; give it once");
  expect_adaptive_refused({"--adaptive", "local=1:2,local=1:2"},
                          "--adaptive: local is given twice; give it once");
  expect_adaptive_refused({"--adaptive", "max=9,initial=3,initial=3"},
                          "--adaptive: initial is given twice; give it once");
  expect_adaptive_refused({"--adaptive", "local=64"},
                          "--adaptive: found \"local=64\", expected local=MIN:MAX");
  for (const char* item : {"max=", "max=0", "max=-1", "max=1e3", "max=9999999999", "local=8:x",
                           "local=:8", "initial=1.5,max=9"}) {
    const std::string text = item;
    expect_adaptive_refused({"--adaptive", text},
                            "--adaptive: found \"" + text.substr(0, text.find(',')) +
                                "\", expected whole numbers from 1 to 1e9 in it");
  }
}

TEST(AdaptiveOption, RefusesARuleThatDoesNotFollowTheBatch) {
  expect_adaptive_refused(
      {"--adaptive", "max=128", "--rule", "constant"},
      "--adaptive: rule constant leaves the learning rate as it is, so larger batches "
      "would come no further with an update; choose adascale, or another rule that "
      "follows the batch");
  for (const char* rule : {"linear", "linear-momentum", "root", "adascale", "adamscale", "legw"}) {
    EXPECT_TRUE(limits_with({"--adaptive", "max=128", "--rule", rule})) << rule;
  }
  EXPECT_TRUE(
      limits_with({"--adaptive", "max=128", "--rule", "constant", "--optimizer", "adadelta"}));
}

TEST(AdaptiveOption, ExcludesATraceAndABatchSize) {
  expect_adaptive_refused({"--adaptive", "max=128", "--trace", "t.csv"},
                          "--trace and --adaptive exclude each other; give one");
  expect_adaptive_refused({"--adaptive", "max=128", "--batch-size", "8"},
                          "--batch-size and --adaptive exclude each other; give one");
}

}  // namespace
}  // namespace rubato::app
