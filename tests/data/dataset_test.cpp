// Delivery of samples: order, standardisation, and what is refused.
#include "data/dataset.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "data/errors.hpp"
#include "tests/huge_pages.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

const Standardisation two_channels{0.5F, {1.0F, 2.0F}, {4.0F, 0.25F}};

template <typename Value>
InMemoryDataset three_samples() {  // 2 x 1 x 2 values each: 0, 1, 2, ...
  std::vector<Value> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>(i);
  return {"test", {2, 1, 2}, 9, values, {8, 0, 5}, two_channels};
}

template <typename Value>
void expect_standardised_in_the_order_asked() {
  const InMemoryDataset dataset = three_samples<Value>();
  const std::vector<std::uint64_t> indices = {2, 0, 2};
  std::vector<float> inputs(12);
  std::vector<std::int32_t> labels(3);
  dataset.read(indices, inputs, labels);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{5, 8, 5}));
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      const auto stored = static_cast<float>(indices[i] * 4 + j);
      const float expected = j % 2 == 0 ? (stored * 0.5F - 1) / 4 : (stored * 0.5F - 2) / 0.25F;
      EXPECT_EQ(inputs[i * 4 + j], expected) << i << " " << j;
    }
  }
}

TEST(InMemoryDataset, StandardisesBytes) { expect_standardised_in_the_order_asked<std::uint8_t>(); }
TEST(InMemoryDataset, StandardisesFloats) { expect_standardised_in_the_order_asked<float>(); }

TEST(InMemoryDataset, BytesAndFloatsOfTheSameValueAreTheSameBits) {
  std::vector<std::uint8_t> bytes(256);
  std::vector<float> floats(256);
  for (std::size_t i = 0; i < 256; ++i) floats[i] = bytes[i] = static_cast<std::uint8_t>(i);
  const Standardisation mnist{1.0F / 255.0F, {0.1307F}, {0.3081F}};
  const InMemoryDataset of_bytes("b", {16, 16, 1}, 1, bytes, {0}, mnist);
  const InMemoryDataset of_floats("f", {16, 16, 1}, 1, floats, {0}, mnist);
  const std::vector<std::uint64_t> first = {0};
  std::vector<float> from_bytes(256);
  std::vector<float> from_floats(256);
  std::vector<std::int32_t> label(1);
  of_bytes.read(first, from_bytes, label);
  of_floats.read(first, from_floats, label);
  EXPECT_EQ(from_bytes, from_floats);
}

TEST(InMemoryDataset, AsksForHugePagesForItsSamples) {
  constexpr std::size_t samples = 40'000;
  std::vector<std::uint8_t> values(samples * 1024);
  const std::uintptr_t middle = address_of(&values[values.size() / 2]);
  ASSERT_FALSE(is_to_be_huge(middle));
  const InMemoryDataset dataset("here", {32, 32, 1}, 2, std::move(values),
                                std::vector<std::int32_t>(samples), {1, {0}, {1}});
  EXPECT_EQ(is_to_be_huge(middle), huge_pages_can_be_asked_for());
}

TEST(InMemoryDataset, RefusesWhatDoesNotFitTogether) {
  const auto refusal = [](std::vector<float> values, std::vector<std::int32_t> labels,
                          Standardisation by) {
    return thrown_message<ContentError>([&] {
      InMemoryDataset("f", {1, 1, 2}, 3, std::move(values), std::move(labels), std::move(by));
    });
  };
  EXPECT_EQ(refusal({1, 2, 3}, {0, 1}, two_channels),
            "f: found 3 values for 2 labels, expected 2 values for each");
  EXPECT_EQ(refusal({1, 2, 3, 4}, {0, 3}, two_channels),
            "f: found label 3 of sample 1, expected 0 to 2");
  EXPECT_EQ(refusal({1, 2, 3, 4}, {-1, 0}, two_channels),
            "f: found label -1 of sample 0, expected 0 to 2");
  EXPECT_EQ(refusal({}, {}, two_channels),
            "f: found 0 samples of 2 values in 3 classes, expected at least one of each");
  const std::string expected =
      "f: expected a mean and a deviation above 0 for each of the 2 channels";
  EXPECT_EQ(refusal({1, 2}, {0}, {1, {0, 0}, {1, 0}}), expected);
  EXPECT_EQ(refusal({1, 2}, {0}, {1, {0}, {1}}), expected);
}

TEST(InMemoryDataset, RefusesIndicesAndRoomThatDoNotFit) {
  const InMemoryDataset dataset = three_samples<float>();
  std::vector<float> inputs(4);
  std::vector<std::int32_t> labels(1);
  const std::vector<std::uint64_t> beyond = {3};
  EXPECT_EQ(thrown_message<std::out_of_range>([&] { dataset.read(beyond, inputs, labels); }),
            "dataset: found sample index 3, expected less than 3");
  const std::vector<std::uint64_t> two = {0, 1};
  EXPECT_THROW(dataset.read(two, inputs, labels), std::invalid_argument);
}

}  // namespace
}  // namespace rubato::data
