#include "nn/log_softmax_loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

using Labels = std::vector<std::int32_t>;

TEST(LogSoftmaxLoss, IsTheLogOfTheClassesForEqualLogits) {
  const std::vector<float> logits(3 * 4, 2.5F);
  std::vector<float> gradient(12);
  const MinibatchLoss loss = log_softmax_loss(logits, Labels{0, 3, 0}, 4, gradient);
  EXPECT_NEAR(loss.loss_sum, 3 * std::log(4.0), 1e-12);
  EXPECT_EQ(loss.correct, 2U);  // of equals the lowest class is predicted
  EXPECT_THAT(gradient, testing::ElementsAre(-0.75F, 0.25F, 0.25F, 0.25F, 0.25F, 0.25F, 0.25F,
                                             -0.75F, -0.75F, 0.25F, 0.25F, 0.25F));
}

TEST(LogSoftmaxLoss, GradientIsTheDerivativeOfTheSum) {
  std::vector<float> logits = {0.5F, -1, 2, 0.25F, 3, -2};
  const Labels labels = {1, 2};
  std::vector<float> gradient(6);
  log_softmax_loss(logits, labels, 3, gradient);
  for (std::size_t i = 0; i < 6; ++i) {
    const float kept = logits[i];
    logits[i] = kept + 0x1p-10F;
    const double above = log_softmax_loss(logits, labels, 3, {}).loss_sum;
    logits[i] = kept - 0x1p-10F;
    const double below = log_softmax_loss(logits, labels, 3, {}).loss_sum;
    logits[i] = kept;
    EXPECT_NEAR(static_cast<double>(gradient[i]), (above - below) * 0x1p9, 1e-6);
  }
}

TEST(LogSoftmaxLoss, TellsThePartOfEachSample) {
  const std::vector<float> logits = {0, 0, 2, -1, 0, 5, 1, 1};
  const Labels labels = {1, 0, 1, 0};
  std::vector<SampleLoss> each(4);
  const MinibatchLoss loss = log_softmax_loss(logits, labels, 2, {}, each);
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const double right = static_cast<double>(logits[2 * i + static_cast<std::size_t>(labels[i])]);
    const double both = std::exp(static_cast<double>(logits[2 * i])) +
                        std::exp(static_cast<double>(logits[2 * i + 1]));
    EXPECT_NEAR(each[i].loss, std::log(both) - right, 1e-12) << i;
    sum += each[i].loss;
  }
  EXPECT_EQ(sum, loss.loss_sum);  // to the bit: added in sample order
  EXPECT_FALSE(each[0].is_correct);
  EXPECT_TRUE(each[1].is_correct && each[2].is_correct && each[3].is_correct);
  EXPECT_EQ(loss.correct, 3U);
}

TEST(LogSoftmaxLoss, SurvivesLargeLogits) {
  const std::vector<float> logits = {1000, 0, -1000, 1000};
  std::vector<float> gradient(4);
  const MinibatchLoss loss = log_softmax_loss(logits, Labels{0, 0}, 2, gradient);
  EXPECT_NEAR(loss.loss_sum, 2000.0, 1e-9);
  EXPECT_EQ(loss.correct, 1U);
  EXPECT_THAT(gradient, testing::ElementsAre(0, 0, -1, 1));
}

TEST(LogSoftmaxLoss, NamesALabelOutsideTheClasses) {
  const std::vector<float> logits(6, 0.0F);
  for (const std::int32_t label : {3, -1}) {
    const Labels labels{0, label};
    EXPECT_EQ(refusal_of([&] { log_softmax_loss(logits, labels, 3, {}); }),
              "label " + std::to_string(label) +
                  " of the minibatch's sample 1 is outside the model's classes 0 to 2");
  }
}

}  // namespace
}  // namespace rubato::nn
