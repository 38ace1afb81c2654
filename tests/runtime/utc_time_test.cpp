// The time of day as text.
#include "runtime/utc_time.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <sstream>

namespace rubato::runtime {
namespace {

TEST(UtcTime, IsNowWhateverTheTimeZone) {
  ::setenv("TZ", "XYZ-05:30", /*overwrite=*/1);
  ::tzset();
  const std::string text = utc_time();
  ::unsetenv("TZ");
  ::tzset();
  std::tm parts{};
  std::istringstream(text) >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  EXPECT_EQ(text.size(), 20U);
  EXPECT_NEAR(static_cast<double>(::timegm(&parts)), static_cast<double>(std::time(nullptr)), 2);
}

}  // namespace
}  // namespace rubato::runtime
