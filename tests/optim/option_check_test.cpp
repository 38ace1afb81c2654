// The ranges at their edges, and the sentences as a person reads them.
#include "optim/option_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace rubato::optim {
namespace {

using testing::ThrowsMessage;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tiny = std::numeric_limits<double>::denorm_min();

TEST(OptionCheck, LetsTheEdgesOfEachRangeThrough) {
  EXPECT_NO_THROW(require_at_least_zero("x", 0));
  EXPECT_NO_THROW(require_above_zero("x", tiny));
  EXPECT_NO_THROW(require_fraction("x", 0));
  EXPECT_NO_THROW(require_fraction("x", std::nextafter(1.0, 0.0)));
}

TEST(OptionCheck, StopsWhatLiesBeyondThem) {
  for (const double value : {-tiny, -infinity, infinity, std::nan("")}) {
    EXPECT_THROW(require_at_least_zero("x", value), std::invalid_argument) << value;
    EXPECT_THROW(require_above_zero("x", value), std::invalid_argument) << value;
    EXPECT_THROW(require_fraction("x", value), std::invalid_argument) << value;
  }
  EXPECT_THROW(require_above_zero("x", 0), std::invalid_argument);
  EXPECT_THROW(require_fraction("x", 1), std::invalid_argument);
}

TEST(OptionCheck, SaysWhatWasFoundAndWhatWasExpected) {
  EXPECT_THAT(
      [] { require_at_least_zero("rate", -0.25); },
      ThrowsMessage<std::invalid_argument>("rate is -0.25; expected a finite number, 0 or more"));
  EXPECT_THAT(
      [] { require_above_zero("rate", std::nan("")); },
      ThrowsMessage<std::invalid_argument>("rate is nan; expected a finite number above 0"));
  EXPECT_THAT(
      [] {
        throw_unknown_name("shade", "grean", {"green", "red"});
      },
      ThrowsMessage<std::invalid_argument>("unknown shade 'grean'; valid names: green, red"));
}

}  // namespace
}  // namespace rubato::optim
