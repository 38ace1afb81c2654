// The compiler keeps the floating-point rules that the bits of a result rest on: each operation is
// rounded once, in the order written, and small numbers are not flushed to zero. Each case computes
// something that a forbidden option (-ffp-contract=fast, -ffast-math) would change. The operands
// come through volatile variables, so that nothing is computed while compiling.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>

namespace {

volatile double one_plus = 1.0 + 0x1p-27;
volatile double minus_square_rounded = -(1.0 + 0x1p-26);
volatile float huge = 0x1p30F;
volatile float small = 1.0F;
volatile float smallest_normal = std::numeric_limits<float>::min();
volatile float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST(FloatingPoint, RoundsAProductBeforeItIsAdded) {
  const double factor = one_plus;
  const double addend = minus_square_rounded;
  EXPECT_EQ(factor * factor + addend, 0.0);  // contracted it is 2^-54
}

TEST(FloatingPoint, RoundsAProductInsideALoop) {
  const double factor = one_plus;
  std::array<double, 64> values{};
  values.fill(factor);
  const double addend = minus_square_rounded;
  for (double& value : values) value = value * value + addend;
  for (const double value : values) EXPECT_EQ(value, 0.0);
}

TEST(FloatingPoint, AddsInTheOrderWritten) {
  const float big = huge;
  const float little = small;
  EXPECT_EQ((big + little) - big, 0.0F);

  std::array<float, 64> terms{};
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = i % 2 == 0 ? big : little;
  terms[62] = -31 * big;
  float sum = 0;
  for (const float term : terms) sum += term;
  EXPECT_EQ(sum, little);  // in lanes the ones would survive: 32
}

TEST(FloatingPoint, KeepsSubnormalNumbers) {
  const float tiny = smallest_normal;
  EXPECT_GT(tiny / 2, 0.0F);
}

TEST(FloatingPoint, KnowsThatNotANumberDiffersFromItself) {
  const float value = not_a_number;
  EXPECT_NE(value, value);
}

}  // namespace
