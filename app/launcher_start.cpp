// See launcher_start.hpp. The child tells through a pipe, closed by a successful exec, that it
// cannot be the launcher.
#include "app/launcher_start.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "app/job_processes.hpp"

namespace rubato::app {
namespace {

void set_unless_set(const char* name, const char* value) { ::setenv(name, value, 0); }

void set_environment(const LauncherStart& start) {
  ::setenv(job_mark_variable, start.mark.c_str(), 1);
  set_unless_set("HWLOC_COMPONENTS", "-gl");  // it would look for X displays, perhaps for seconds
  set_unless_set("OMPI_MCA_oob_tcp_keepalive_time", "5");
  set_unless_set("OMPI_MCA_oob_tcp_keepalive_intvl", "2");
  set_unless_set("OMPI_MCA_oob_tcp_keepalive_probes", "4");
  if (start.stops_by_usr1) set_unless_set("OMPI_MCA_odls_base_sigkill_timeout", "0");
  if (::geteuid() != 0) return;
  set_unless_set("OMPI_ALLOW_RUN_AS_ROOT", "1");  // it wants to be told twice
  set_unless_set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
}

// In the child. Returns only if the launcher cannot be started.
void become_launcher(pid_t parent, const std::vector<char*>& words, const LauncherStart& start) {
  const int signal_at_parents_end = start.stops_by_usr1 ? SIGUSR1 : SIGTERM;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, signal_at_parents_end);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // the parent died before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGUSR1}) {
    ::signal(signal, SIG_DFL);
  }
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  set_environment(start);
  ::execvp(words[0], words.data());
}

}  // namespace

ProcessHandle start_launcher(const LauncherStart& start) {
  std::vector<char*> words;
  for (const auto& word : start.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_launcher(parent, words, start);
    const int error = errno;
    const auto written = ::write(report[1], &error, sizeof(error));
    ::_exit(written > 0 ? 127 : 126);
  }
  const int fork_error = child < 0 ? errno : 0;
  ::close(report[1]);
  int error = 0;
  const bool has_failed = ::read(report[0], &error, sizeof(error)) == sizeof(error);
  ::close(report[0]);
  if (child < 0 || has_failed) {
    if (child > 0) ::waitpid(child, nullptr, 0);
    throw std::system_error(child < 0 ? fork_error : error, std::generic_category(),
                            "cannot start " + start.command[0]);
  }
  return ProcessHandle::open(child).value();  // at worst a zombie: nobody else waits for it
}

}  // namespace rubato::app
