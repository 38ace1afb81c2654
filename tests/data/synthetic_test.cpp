// The made-up task: reproducible, of the moments it says, and learnable.
#include "data/synthetic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/data/float_values.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(Synthetic, ASampleDoesNotDependOnHowManyThereAre) {
  SyntheticOptions options;
  options.samples = 50;
  const Split few = make_synthetic(options);
  options.samples = 500;
  const Split many = make_synthetic(options);
  EXPECT_EQ(few.test.labels.size(), 12U);
  EXPECT_TRUE(
      std::equal(few.train.labels.begin(), few.train.labels.end(), many.train.labels.begin()));
  EXPECT_TRUE(std::equal(float_values(few.train).begin(), float_values(few.train).end(),
                         float_values(many.train).begin()));
  options.seed = 1;
  EXPECT_NE(float_values(make_synthetic(options).train), float_values(many.train));
  EXPECT_NE(float_values(many.train)[0], float_values(many.test)[0]);
}

TEST(Synthetic, NoiseHasMeanZeroAndDeviationOne) {
  SyntheticOptions options;
  options.samples = 20000;
  options.shape = {1, 1, 2};
  options.classes = 2;
  const Split split = make_synthetic(options);
  for (std::int32_t label = 0; label < 2; ++label) {  // around each prototype
    double sum = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = 0; i < split.train.labels.size(); ++i) {
      if (split.train.labels[i] != label) continue;
      const double value = float_values(split.train)[2 * i];
      sum += value;
      squares += value * value;
      count += 1;
    }
    EXPECT_NEAR(count, 10000, 400);
    const double mean = sum / count;
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean), 1.0, 0.03);
  }
}

TEST(Synthetic, TheNearestClassMeanOfTheTrainingSetClassifiesTheTestSet) {
  const Split split = make_synthetic({});
  const std::size_t width = split.train.shape.size();
  std::vector<double> means(10 * width, 0.0);
  std::vector<double> counts(10, 0.0);
  for (std::size_t i = 0; i < split.train.labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(split.train.labels[i]);
    counts[label] += 1;
    for (std::size_t j = 0; j < width; ++j)
      means[label * width + j] += float_values(split.train)[i * width + j];
  }
  std::size_t right = 0;
  for (std::size_t i = 0; i < split.test.labels.size(); ++i) {
    std::size_t best = 0;
    double best_distance = 1e300;
    for (std::size_t label = 0; label < 10; ++label) {
      double distance = 0;
      for (std::size_t j = 0; j < width; ++j) {
        distance += std::pow(
            float_values(split.test)[i * width + j] - means[label * width + j] / counts[label], 2);
      }
      if (distance < best_distance) {
        best = label;
        best_distance = distance;
      }
    }
    if (best == static_cast<std::size_t>(split.test.labels[i])) ++right;
  }
  const double accuracy =
      static_cast<double>(right) / static_cast<double>(split.test.labels.size());
  EXPECT_GT(accuracy, 0.93);
  EXPECT_LT(accuracy, 1.0);  // not trivial
}

TEST(Synthetic, RefusesSizesThatMakeNoTask) {
  const auto refusal = [](SyntheticOptions options) {
    return thrown_message<std::invalid_argument>([&] { make_synthetic(options); });
  };
  EXPECT_EQ(refusal({0, {8, 8, 1}, 10, 0}),
            "synthetic: found no sample or an empty shape, expected at least 1");
  EXPECT_EQ(refusal({10, {8, 8, 1}, 1, 0}), "synthetic: found 1 classes, expected 2 to 999999");
  EXPECT_EQ(refusal({std::size_t{1} << 40U, {8, 8, 1}, 10, 0}),
            "synthetic: found 1099511627776 samples of 64 values, expected at most 8589934592 "
            "values in all");
}

}  // namespace
}  // namespace rubato::data
