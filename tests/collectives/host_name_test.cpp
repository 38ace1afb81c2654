#include "collectives/host_name.hpp"

#include <gtest/gtest.h>
#include <sys/utsname.h>

namespace rubato::collectives {
namespace {

TEST(HostName, IsTheKernelsNodeName) {
  utsname names{};
  ASSERT_EQ(uname(&names), 0);
  EXPECT_EQ(host_name(), names.nodename);
}

}  // namespace
}  // namespace rubato::collectives
