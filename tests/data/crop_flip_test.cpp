// Crops and flips against the definition by padding, and what they depend on.
#include "data/crop_flip.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

constexpr SampleShape shape{6, 5, 2};
const Standardisation standardisation{0.5F, {3, -1}, {2, 4}};  // of zero: -1.5 and 0.25

auto as_tuple(const CropFlip::Choice& choice) {
  return std::tuple(choice.down, choice.right, choice.is_mirrored);
}

// Stored values 1, 2, 3, ..., other ones for every sample, as a data set delivers them.
std::vector<float> image_of(std::uint64_t sample) {
  std::vector<float> values(shape.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto stored = static_cast<float>(sample * shape.size() + i + 1);
    values[i] = standardised(stored, standardisation, i % 2);
  }
  return values;
}

// By way of a larger image, whose border is zero: cut, then mirrored.
std::vector<float> expected_of(std::uint64_t sample, const CropFlip::Choice& choice) {
  constexpr std::size_t border = CropFlip::padding;
  constexpr std::size_t height = 6 + 2 * border;
  constexpr std::size_t width = 5 + 2 * border;
  const std::vector<float> image = image_of(sample);
  std::vector<float> padded(height * width * 2);
  for (std::size_t i = 0; i < padded.size(); ++i) padded[i] = i % 2 == 0 ? -1.5F : 0.25F;
  for (std::size_t y = 0; y < 6; ++y) {
    for (std::size_t i = 0; i < 10; ++i) {
      padded[((y + border) * width + border) * 2 + i] = image[y * 10 + i];
    }
  }
  const std::size_t top = border + static_cast<std::size_t>(choice.down);
  const std::size_t left = border + static_cast<std::size_t>(choice.right);
  std::vector<float> expected;
  for (std::size_t y = 0; y < 6; ++y) {
    for (std::size_t x = 0; x < 5; ++x) {
      const std::size_t column = left + (choice.is_mirrored ? 4 - x : x);
      for (std::size_t c = 0; c < 2; ++c) {
        expected.push_back(padded[((y + top) * width + column) * 2 + c]);
      }
    }
  }
  return expected;
}

TEST(CropFlip, IsTheCutOfAPaddedImage) {
  CropFlip augmentation(shape, standardisation, 42);
  std::map<std::tuple<std::ptrdiff_t, std::ptrdiff_t, bool>, int> seen;
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const CropFlip::Choice choice = augmentation.choice(3, sample);
    ++seen[as_tuple(choice)];
    std::vector<float> image = image_of(sample);
    augmentation.apply(3, {&sample, 1}, image);
    ASSERT_EQ(image, expected_of(sample, choice)) << sample;
  }
  EXPECT_EQ(seen.size(), 9 * 9 * 2U);  // every choice there is
}

TEST(CropFlip, ChoicesAreEquallyLikely) {
  constexpr int draws = 162 * 400;
  const CropFlip augmentation(shape, standardisation, 7);
  std::map<std::tuple<std::ptrdiff_t, std::ptrdiff_t, bool>, int> seen;
  for (std::uint64_t sample = 0; sample < draws; ++sample) {
    ++seen[as_tuple(augmentation.choice(0, sample))];
  }
  ASSERT_EQ(seen.size(), 162U);
  double chi_square = 0;
  for (const auto& [choice, count] : seen) chi_square += (count - 400.0) * (count - 400.0) / 400.0;
  EXPECT_GT(chi_square, 161 - 4 * 18);  // its mean and standard deviation: 161, 18
  EXPECT_LT(chi_square, 161 + 4 * 18);
}

// Drawn by a Philox4x32-10 written out in another language, which was held against Random123's
// known answers.
TEST(CropFlip, DrawsAreThoseOfPhilox) {
  const auto drawn = [](std::uint64_t seed, std::uint64_t epoch, std::uint64_t sample) {
    return as_tuple(CropFlip(shape, standardisation, seed).choice(epoch, sample));
  };
  EXPECT_EQ(drawn(42, 0, 0), std::tuple(-1, 0, false));
  EXPECT_EQ(drawn(42, 0, 1), std::tuple(-3, 3, false));
  EXPECT_EQ(drawn(42, 1, 0), std::tuple(-4, 3, false));
  EXPECT_EQ(drawn(43, 0, 0), std::tuple(4, -3, true));
  EXPECT_EQ(drawn(42, 7, 49999), std::tuple(-4, -4, false));
  EXPECT_EQ(drawn((1ULL << 40U) + 5, 3, (1ULL << 33U) + 1), std::tuple(-2, -4, false));
}

TEST(CropFlip, NeitherCompanionsNorOrderMatter) {
  constexpr std::size_t count = 11;
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 100);
  const auto images_of = [&] {
    std::vector<float> images;
    for (const std::uint64_t sample : samples) {
      for (const float value : image_of(sample)) images.push_back(value);
    }
    return images;
  };
  std::vector<float> whole = images_of();
  CropFlip(shape, standardisation, 42).apply(5, samples, whole);
  for (const std::size_t cut : {1U, 3U, 4U}) {
    std::vector<float> pieces = images_of();
    CropFlip augmentation(shape, standardisation, 42);
    const std::size_t last = (count - 1) / cut * cut;
    for (std::size_t begin = last;; begin -= cut) {  // backwards
      const std::size_t size = std::min(cut, count - begin);
      augmentation.apply(5, std::span(samples).subspan(begin, size),
                         std::span(pieces).subspan(begin * shape.size(), size * shape.size()));
      if (begin == 0) break;
    }
    EXPECT_EQ(pieces, whole) << cut;
  }
}

TEST(CropFlip, NeedsImagesLargerThanThePadding) {
  const auto refusal = [](SampleShape small) {
    return thrown_message<std::invalid_argument>([&] { CropFlip(small, {1, {0}, {1}}, 42); });
  };
  EXPECT_EQ(refusal({1, 1, 1}),
            "--augment crop-flip: the samples have 1 x 1 pixels, expected images of more than "
            "4 x 4");
  EXPECT_NE(refusal({4, 9, 1}), "");
  EXPECT_NO_THROW(CropFlip({5, 5, 1}, {1, {0}, {1}}, 42));
}

TEST(CropFlip, HasAName) {
  EXPECT_EQ(augmentation("crop-flip"), Augmentation::crop_flip);
  EXPECT_EQ(augmentation("none"), Augmentation::none);
  EXPECT_THROW(augmentation("crop"), std::invalid_argument);
  EXPECT_THAT(augmentation_names(), testing::ElementsAre("none", "crop-flip"));
}

}  // namespace
}  // namespace rubato::data
