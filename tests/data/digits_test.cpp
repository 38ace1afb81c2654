// The built-in digits against figures taken from the file by other means.
#include "data/digits.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace rubato::data {
namespace {

TEST(Digits, EveryFifthTestsAndTheOthersTrain) {
  const Split split = read_digits();
  EXPECT_EQ(split.train.labels.size(), 1438U);
  EXPECT_EQ(split.test.labels.size(), 359U);
  EXPECT_EQ(split.train.shape, (SampleShape{8, 8, 1}));
  // The file's first six labels are 0 1 2 3 4 5: the fifth one tests.
  EXPECT_EQ(split.test.labels[0], 4);
  EXPECT_EQ(split.train.labels[3], 3);
  EXPECT_EQ(split.train.labels[4], 5);
  const auto& pixels = std::get<std::vector<std::uint8_t>>(split.train.values);
  const std::vector<std::uint8_t> first_row = {0, 0, 5, 13, 9, 1, 0, 0};
  EXPECT_TRUE(std::equal(first_row.begin(), first_row.end(), pixels.begin()));
  EXPECT_EQ(std::accumulate(pixels.begin(), pixels.end(), 0U), 450304U);
}

TEST(Digits, ConstantsAreThoseOfTheTrainingSet) {
  const Standardisation written = digits_standardisation();
  const Standardisation measured = measure(read_digits().train, written.scale);
  EXPECT_EQ(written.scale, 1.0F / 16.0F);
  EXPECT_FLOAT_EQ(written.mean[0], measured.mean[0]);
  EXPECT_FLOAT_EQ(written.deviation[0], measured.deviation[0]);
}

}  // namespace
}  // namespace rubato::data
