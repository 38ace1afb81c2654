#include "app/process_handle.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <type_traits>
#include <utility>

namespace rubato::app {
namespace {

static_assert(!std::is_copy_constructible_v<ProcessHandle>);
static_assert(std::is_nothrow_move_constructible_v<ProcessHandle>);

pid_t start_sleeper() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  return child;
}

TEST(ProcessHandle, TellsTheEndBeforeTheParentHasAskedForIt) {
  const pid_t child = start_sleeper();
  auto handle = ProcessHandle::open(child);
  ASSERT_TRUE(handle);
  EXPECT_EQ(handle->pid(), child);
  EXPECT_FALSE(handle->has_ended());
  const ProcessHandle moved = std::move(*handle);
  moved.send(SIGKILL);
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(moved.has_ended());  // a zombie still has its number
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(moved.has_ended());
  moved.send(SIGKILL);  // reaches nobody
}

TEST(ProcessHandle, IsNothingForAProcessThatIsGone) {
  const pid_t child = start_sleeper();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(ProcessHandle::open(child));
}

}  // namespace
}  // namespace rubato::app
