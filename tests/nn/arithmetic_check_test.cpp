#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cfenv>
#include <stdexcept>

#include "nn/backend.hpp"

namespace rubato::nn {
namespace {

std::string complaint() {
  try {
    check_arithmetic();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(CheckArithmetic, HoldsInThisBuild) { EXPECT_EQ(complaint(), ""); }

TEST(CheckArithmetic, NoticesAnotherRounding) {
  std::fesetround(FE_UPWARD);
  const std::string message = complaint();
  std::fesetround(FE_TONEAREST);
  EXPECT_THAT(message, testing::HasSubstr("rounding is not to nearest"));
}

TEST(CheckArithmetic, NoticesFlushingOfDenormals) {
  const unsigned kept = _mm_getcsr();
  for (const unsigned mode : {0x8000U, 0x0040U}) {  // flush to zero, denormals are zero
    _mm_setcsr(kept | mode);
    const std::string message = complaint();
    _mm_setcsr(kept);
    EXPECT_THAT(message, testing::HasSubstr("denormal floats are flushed to zero"));
  }
}

}  // namespace
}  // namespace rubato::nn
