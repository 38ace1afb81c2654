#include "collectives/packed_block.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace rubato::collectives {
namespace {

constexpr std::size_t header_bytes = 16;

template <class T>
std::vector<T> there_and_back(const std::vector<T>& values, std::size_t& bytes) {
  std::vector<std::byte> packed(packed_room(values.size()), std::byte{0xAA});
  bytes = pack(std::span<const T>(values), packed.data());
  EXPECT_LE(bytes, packed.size());
  std::vector<T> back(values.size(), T{77});
  EXPECT_EQ(unpack(packed.data(), std::span<T>(back)), bytes);
  return back;
}

void expect_bytes_each(const std::vector<double>& values, std::size_t bytes_each) {
  std::size_t bytes = 0;
  const std::vector<double> back = there_and_back(values, bytes);
  EXPECT_EQ(bytes, header_bytes + values.size() * bytes_each);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(values[i]))
        << values[i] << " at " << i;
  }
}

// Integers of both signs whose largest needs `bits` bits besides the sign, times `unit`.
std::vector<double> multiples(std::size_t count, int bits, double unit) {
  std::vector<double> values(count);
  std::uint64_t state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto integer = static_cast<double>(state >> (64 - bits));
    value = (state & 1U) != 0 ? integer * unit : 0.0 - integer * unit;
  }
  values[count / 2] = (std::ldexp(1.0, bits) - 1) * unit;  // odd and large
  return values;
}

TEST(PackedBlock, TakesAsManyBytesAsTheMultiplesNeed) {
  for (const double unit : {1.0, std::ldexp(1.0, -40), std::ldexp(1.0, 100)}) {
    for (const int bits : {25, 31, 32, 38, 39, 40, 47}) {
      SCOPED_TRACE(std::to_string(bits) + " bits of " + std::to_string(unit));
      for (const std::size_t count : {std::size_t{1}, std::size_t{5}, block_elements}) {
        expect_bytes_each(multiples(count, bits, unit), static_cast<std::size_t>(bits / 8 + 1));
      }
    }
  }
}

TEST(PackedBlock, TakesFloatsAsSuch) {
  constexpr std::size_t as_integers = 5;
  for (const double unit : {1.0, std::ldexp(1.0, -34), std::ldexp(1.0, -140)}) {
    std::vector<double> values = multiples(block_elements, 24, unit);  // a float's bits
    values.front() = std::ldexp(unit, 38);
    values.back() = 3 * std::ldexp(unit, 36);
    expect_bytes_each(values, sizeof(float));
    values.back() += unit;  // more bits than a float has
    expect_bytes_each(values, as_integers);
  }
  expect_bytes_each({1.0, -2.0, 0.5}, sizeof(float));
}

TEST(PackedBlock, TakesFloatsThatHaveNoCommonUnit) {
  using limits = std::numeric_limits<float>;
  expect_bytes_each({1.0, std::ldexp(1.0, -48)}, sizeof(float));
  expect_bytes_each(
      {1.0, limits::max(), limits::lowest(), limits::min(), limits::denorm_min(), -0.0},
      sizeof(float));
}

TEST(PackedBlock, TakesNoFloatForWhatIsTooLargeOrTooSmallForOne) {
  expect_bytes_each({std::ldexp(1.0, 128), 1.0}, 8);
  expect_bytes_each({std::ldexp(1.0, -150), 1.0}, 8);
  expect_bytes_each({std::ldexp(1.0, 128), std::ldexp(1.0, 127)}, 4);  // as integers
}

TEST(PackedBlock, LeavesWhatHasNoCommonUnitAsItIs) {
  expect_bytes_each(multiples(100, 48, 1.0), 8);
  expect_bytes_each({1.0 + std::ldexp(1.0, -40), std::ldexp(1.0, -60)}, 8);
  expect_bytes_each({0.1, -0.2, 0.3}, 8);
}

TEST(PackedBlock, LeavesTheEndsOfTheRangeAsTheyAre) {
  using limits = std::numeric_limits<double>;
  const auto with_payload = std::bit_cast<double>(std::uint64_t{0x7ff8000000000001});
  for (const double value : {limits::max(), limits::min(), limits::denorm_min(), with_payload}) {
    expect_bytes_each({1.0, value, 2.0}, 8);
  }
}

TEST(PackedBlock, TakesWhatIsNoNumberAsAFloat) {
  using limits = std::numeric_limits<double>;
  for (const double value : {limits::infinity(), -limits::infinity(), limits::quiet_NaN()}) {
    expect_bytes_each({1.0, value, 2.0}, sizeof(float));
    expect_bytes_each({0.1, value, 2.0}, 8);
  }
}

TEST(PackedBlock, OfZerosIsAHeader) {
  expect_bytes_each(std::vector<double>(50, 0.0), 0);
  std::size_t bytes = 0;
  EXPECT_EQ(there_and_back<double>({0.0, -0.0}, bytes), (std::vector<double>{0, 0}));
  EXPECT_EQ(bytes, header_bytes);
  EXPECT_EQ(there_and_back<double>({0.0, -0.0, 4.0}, bytes), (std::vector<double>{0, 0, 4}));
}

TEST(PackedBlock, MissesNoElement) {
  constexpr std::size_t count = 150;  // whole groups of any length, and a rest
  for (std::size_t at = 0; at < count; ++at) {
    SCOPED_TRACE(at);
    std::vector<double> values(count, 0.0);
    values[at] = 1.0;
    expect_bytes_each(values, sizeof(float));
    values.assign(count, 3.0);
    values[at] = std::ldexp(1.0, 46) + 1;
    expect_bytes_each(values, 6);
  }
}

TEST(PackedBlock, KeepsItsNeighboursWhole) {
  for (const int bits : {20, 31, 39, 47}) {
    SCOPED_TRACE(bits);
    const std::vector<double> first = multiples(block_elements, bits, 1.0);
    const std::vector<double> second = multiples(33, 35, 0.25);
    std::vector<std::byte> packed(packed_room(first.size()) + packed_room(second.size()));
    std::size_t bytes = pack(std::span<const double>(first), packed.data());
    bytes += pack(std::span<const double>(second), packed.data() + bytes);
    std::vector<double> back(first.size());
    std::size_t read = unpack(packed.data(), std::span<double>(back));
    EXPECT_EQ(back, first);
    back.resize(second.size());
    read += unpack(packed.data() + read, std::span<double>(back));
    EXPECT_EQ(back, second);
    EXPECT_EQ(read, bytes);
  }
}

TEST(PackedBlock, FloatsTravelAsTheyAre) {
  std::size_t bytes = 0;
  const std::vector<float> values{1.5F, -0.0F, std::numeric_limits<float>::infinity(), 1e-40F};
  EXPECT_EQ(there_and_back(values, bytes), values);
  EXPECT_EQ(bytes, values.size() * sizeof(float));
}

}  // namespace
}  // namespace rubato::collectives
