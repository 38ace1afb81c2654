// With a shell as the launcher, which writes down what it was given; and with the real one, whose
// ranks have its settings in their environment.
#include "app/launcher_start.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <system_error>

namespace rubato::app {
namespace {

using Words = std::vector<std::string>;

// What the launcher prints; it has ended then.
std::string output_of(const Words& command, bool stops_by_usr1) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  const int standard_output = ::dup(STDOUT_FILENO);
  ::dup2(::fileno(file.get()), STDOUT_FILENO);
  const auto launcher =
      start_launcher({.command = command, .mark = "a-mark", .stops_by_usr1 = stops_by_usr1});
  ::dup2(standard_output, STDOUT_FILENO);
  ::close(standard_output);
  ::waitpid(launcher.pid(), nullptr, 0);
  std::rewind(file.get());
  std::string text;
  for (std::array<char, 256> part{}; std::fgets(part.data(), part.size(), file.get());) {
    text += part.data();
  }
  return text;
}

Words shell_asking_for(const std::string& names) {
  return {"sh", "-c", "for name in " + names + "; do printenv $name || echo none; done"};
}

const std::string keepalive =
    "OMPI_MCA_oob_tcp_keepalive_time OMPI_MCA_oob_tcp_keepalive_intvl "
    "OMPI_MCA_oob_tcp_keepalive_probes ";
const std::string last_second = "OMPI_MCA_odls_base_sigkill_timeout";

// The tests may themselves run with such settings.
class LauncherStartTest : public testing::Test {
 protected:
  LauncherStartTest() {
    std::istringstream names(keepalive + last_second);
    for (std::string name; names >> name;) ::unsetenv(name.c_str());
  }
};

TEST_F(LauncherStartTest, MakesFailuresQuick) {
  const auto names = "RUBATO_JOB " + keepalive + last_second;
  EXPECT_EQ(output_of(shell_asking_for(names), true), "a-mark\n5\n2\n4\n0\n");
  EXPECT_EQ(output_of(shell_asking_for(names), false), "a-mark\n5\n2\n4\nnone\n");
}

TEST_F(LauncherStartTest, LeavesWhatTheEnvironmentSays) {
  ::setenv("OMPI_MCA_oob_tcp_keepalive_intvl", "7", 1);
  ::setenv(last_second.c_str(), "3", 1);
  EXPECT_EQ(output_of(shell_asking_for(keepalive + last_second), true), "5\n7\n4\n3\n");
  ::unsetenv("OMPI_MCA_oob_tcp_keepalive_intvl");
  ::unsetenv(last_second.c_str());
}

TEST_F(LauncherStartTest, LeavesWhatMpirunsOwnWordsSay) {
  Words command{RUBATO_MPIEXEC, "-q", "--mca", "odls_base_sigkill_timeout", "3", "-n", "1"};
  for (auto& word : shell_asking_for(keepalive + last_second)) command.push_back(std::move(word));
  EXPECT_EQ(output_of(command, true), "5\n2\n4\n3\n");
}

TEST_F(LauncherStartTest, GivesNoInputAndAGroupOfItsOwn) {
  EXPECT_EQ(
      output_of({"sh", "-c", "cat; me=$$; set -- $(cat /proc/$me/stat); [ $5 = $me ] && echo own"},
                false),
      "own\n");
}

TEST_F(LauncherStartTest, NamesAProgramThatCannotBeStarted) {
  try {
    start_launcher({.command = {"/nowhere/mpirun"}, .mark = "a-mark"});
    FAIL() << "expected an exception";
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "cannot start /nowhere/mpirun: No such file or directory");
  }
}

// The launcher prints the signal that it gets at the end of a child which has started it.
std::string signal_at_the_end(bool stops_by_usr1) {
  int pipe[2];
  if (::pipe(pipe) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    try {
      start_launcher({.command = {"sh", "-c",
                                  "trap 'echo USR1; exit' USR1; trap 'echo TERM; exit' TERM;"
                                  " echo ready; for i in $(seq 200); do sleep 0.05; done"},
                      .mark = "a-mark",
                      .stops_by_usr1 = stops_by_usr1});
      ::pause();
    } catch (const std::exception&) {  // must not reach the tests, which are in this child as well
      ::_exit(1);
    }
  }
  ::close(pipe[1]);
  std::string text;
  std::array<char, 64> part{};
  for (ssize_t size = 0; (size = ::read(pipe[0], part.data(), part.size())) > 0;) {
    const bool is_first = text.empty();
    text.append(part.data(), static_cast<std::size_t>(size));
    if (is_first) ::kill(child, SIGKILL);
  }
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST_F(LauncherStartTest, TellsTheLauncherWhenThisProcessIsKilled) {
  EXPECT_EQ(signal_at_the_end(false), "ready\nTERM\n");
  EXPECT_EQ(signal_at_the_end(true), "ready\nUSR1\n");
}

}  // namespace
}  // namespace rubato::app
