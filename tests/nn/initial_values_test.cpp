#include "nn/initial_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rubato::nn {
namespace {

std::vector<float> drawn(const std::string& name, std::uint64_t seed, std::size_t count) {
  std::vector<float> values(count);
  fill_initial_values({name, {count}, -0.25, 0.25}, seed, values);
  return values;
}

TEST(InitialValues, AreUniformInTheInterval) {
  constexpr std::size_t count = 100'000;
  const std::vector<float> values = drawn("fc1.weight", 42, count);
  double sum = 0;
  double square_sum = 0;
  for (const float value : values) {
    ASSERT_GE(value, -0.25F);
    ASSERT_LE(value, 0.25F);
    sum += static_cast<double>(value);
    square_sum += static_cast<double>(value) * static_cast<double>(value);
  }
  constexpr double variance = 0.5 * 0.5 / 12;
  // Five standard errors: sqrt(variance / n) of the mean, sqrt((1/80 - 1/144) / n) * width^2 of the
  // variance.
  EXPECT_NEAR(sum / count, 0.0, 5 * 0.1443 / 316.2);
  EXPECT_NEAR(square_sum / count, variance, 5 * 0.0745 * 0.25 / 316.2);
  for (int bin = 0; bin < 8; ++bin) {  // expected n/8, standard error sqrt(n * 7/64)
    const float low = -0.25F + static_cast<float>(bin) * 0.0625F;
    const auto inside = std::count_if(values.begin(), values.end(), [low](float value) {
      return value >= low && value < low + 0.0625F;
    });
    EXPECT_NEAR(static_cast<double>(inside), count / 8.0, 5 * 104.6) << "bin " << bin;
  }
}

TEST(InitialValues, DependOnSeedAndNameAlone) {
  const std::vector<float> values = drawn("fc1.weight", 42, 3000);
  EXPECT_EQ(values, drawn("fc1.weight", 42, 3000));
  EXPECT_NE(values, drawn("fc1.weight", 43, 3000));
  EXPECT_NE(values, drawn("fc2.weight", 42, 3000));
  const std::vector<float> shorter = drawn("fc1.weight", 42, 1001);  // not of the size
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), values.begin()));
}

TEST(InitialValues,
     FirstValuesStayWhatTheyAre) {  // checkpoints of update 0 are compared between versions
  const std::vector<float> values = drawn("fc.weight", 42, 2);
  EXPECT_EQ(values[0], 0x1.6588fcp-3F);
  EXPECT_EQ(values[1], -0x1.a7a63p-4F);
}

std::vector<float> drawn_normal(double deviation, std::size_t count) {
  std::vector<float> values(count);
  TensorSpec spec{"conv1.weight", {count}};
  spec.deviation = deviation;
  fill_initial_values(spec, 42, values);
  return values;
}

TEST(InitialValues, AreNormalWithTheDeviation) {
  constexpr std::size_t count = 100'000;
  const std::vector<float> values = drawn_normal(0.5, count);
  double sum = 0;
  double square_sum = 0;
  std::size_t beyond[4] = {};  // 0, 1, 2, 3 deviations
  for (const float value : values) {
    sum += static_cast<double>(value);
    square_sum += static_cast<double>(value) * static_cast<double>(value);
    for (int i = 0; i < 4; ++i) {
      beyond[i] += std::abs(value) > 0.5F * static_cast<float>(i) ? 1U : 0U;
    }
  }
  // Five standard errors: 1 / sqrt(n) of the mean, sqrt(2 / n) of the variance.
  EXPECT_NEAR(sum / count / 0.5, 0.0, 5 * 0.00316);
  EXPECT_NEAR(square_sum / count / 0.25, 1.0, 5 * 0.00447);
  const double expected[4] = {1.0, 0.317311, 0.045500, 0.002700};
  for (int i = 0; i < 4; ++i) {
    const double error = std::sqrt(expected[i] * (1.000001 - expected[i]) / count);
    EXPECT_NEAR(static_cast<double>(beyond[i]) / count, expected[i], 5 * error) << i;
  }
}

TEST(InitialValues, FirstNormalValuesStayWhatTheyAre) {
  const std::vector<float> values = drawn_normal(0.5, 4);
  EXPECT_EQ(values[0], 0x1.46a3fp-3F);
  EXPECT_EQ(values[1], -0x1.55fcacp-2F);
  EXPECT_EQ(values[2], 0x1.0d6bcp-6F);
  EXPECT_EQ(values[3], 0x1.3d9a64p-5F);
}

TEST(InitialValues, NormalOnesDoNotDependOnTheSizeEither) {
  const std::vector<float> values = drawn_normal(0.5, 3000);
  for (const std::size_t count : {1U, 1023U, 1024U, 1025U, 2999U}) {
    const std::vector<float> shorter = drawn_normal(0.5, count);
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), values.begin())) << count;
  }
}

TEST(InitialValues, AnEmptyIntervalIsAConstant) {
  std::vector<float> values(5, -1.0F);
  fill_initial_values({"bn1.weight", {5}, 1, 1}, 42, values);
  EXPECT_EQ(values, std::vector<float>(5, 1.0F));
}

}  // namespace
}  // namespace rubato::nn
