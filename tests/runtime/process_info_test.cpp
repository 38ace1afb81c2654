// The state and the age of processes, seen from outside.
#include "runtime/process_info.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rubato::runtime {
namespace {

// A child process that does nothing until it is killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_NAME, "a) R 1 (b");
    for (;;) ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(ProcessInfo, ThisProcessRunsAndBeganBeforeItsChild) {
  const auto self = process_info(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->state, 'R');
  const Child child;
  const auto other = process_info(child.pid());
  ASSERT_TRUE(other);
  EXPECT_GT(self->start_ticks, 0U);
  EXPECT_LE(self->start_ticks, other->start_ticks);
}

TEST(ProcessInfo, AStoppedAndADeadProcessAreToldApart) {
  const Child child;
  ::kill(child.pid(), SIGSTOP);
  ::waitpid(child.pid(), nullptr, WUNTRACED);
  EXPECT_EQ(process_info(child.pid()).value().state, 'T');
  EXPECT_FALSE(process_info(child.pid()).value().is_dead());
  ::kill(child.pid(), SIGKILL);
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(child.pid()), &ignored, WEXITED | WNOWAIT);
  EXPECT_TRUE(process_info(child.pid()).value().is_dead());
}

TEST(ProcessInfo, OfNoProcessThereIsNone) { EXPECT_FALSE(process_info(999'999'999)); }

}  // namespace
}  // namespace rubato::runtime
