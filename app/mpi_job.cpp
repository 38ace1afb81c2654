// See mpi_job.hpp.
#include "app/mpi_job.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>
#include <thread>

#include "app/job_processes.hpp"
#include "app/mpi_leftovers.hpp"

namespace rubato::app {
namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 40ms;  // while ranks are still being started
constexpr auto start_time = 5s;       // after which ranks not seen here are on other hosts
constexpr auto survivor_grace = 400ms;
constexpr auto death_time = 5s;         // of killed processes; longer only in a stuck file system
constexpr auto launcher_grace = 150ms;  // for mpirun to end after its ranks; at best 0.04 s

std::uint64_t cores_here() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  return static_cast<std::uint64_t>(CPU_COUNT(&allowed));
}

std::string new_mark() {
  std::random_device random;  // process ids alone repeat, between containers too
  return std::to_string(::getpid()) + "-" + std::to_string(random()) + std::to_string(random());
}

// What the launcher's environment has beside this process's own: Open MPI runs as root only when
// told twice, and its hwloc would look for X displays, which can cost seconds.
void set_environment(const std::string& mark) {
  ::setenv(job_mark_variable, mark.c_str(), 1);
  ::setenv("HWLOC_COMPONENTS", "-gl", 0);
  if (::geteuid() != 0) return;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
}

// In the child. Returns only if the launcher cannot be started.
void become_launcher(pid_t parent, const std::vector<char*>& words, const std::string& mark) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(128 + SIGTERM);  // the parent died before the line above
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGUSR1}) {
    ::signal(signal, SIG_DFL);
  }
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  set_environment(mark);
  ::execvp(words[0], words.data());
}

// The child tells through a pipe, closed by a successful exec, that it cannot be the launcher.
ProcessHandle start(const std::vector<std::string>& command, const std::string& mark) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_launcher(parent, words, mark);
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
                            "cannot start " + command[0]);
  }
  return ProcessHandle::open(child).value();  // at worst a zombie: nobody else waits for it
}

}  // namespace

std::vector<std::string> launch_words(const MpiJobPlan& plan, std::uint64_t cores) {
  std::vector<std::string> words = plan.launcher;
  words.insert(words.end(), {"-q", "-n", std::to_string(plan.ranks)});
  if (plan.ranks > cores) words.emplace_back("--oversubscribe");
  words.insert(words.end(), plan.command.begin(), plan.command.end());
  return words;
}

MpiJob::MpiJob(const MpiJobPlan& plan)
    : ranks_wanted_(plan.ranks),
      mark_(new_mark()),
      launcher_(start(launch_words(plan, cores_here()), mark_)) {}

MpiJob::~MpiJob() { kill(); }

std::vector<pid_t> MpiJob::live_ranks() const {
  std::vector<pid_t> pids;
  for (const auto& rank : ranks_) {
    if (!rank.has_ended()) pids.push_back(rank.pid());
  }
  return pids;
}

std::optional<JobEnd> MpiJob::wait_for(std::chrono::milliseconds time, int wake) {
  const auto until = Clock::now() + time;
  while (!has_end_) {
    find_ranks();
    note_deaths();
    send_stop_when_heard();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd entry{.fd = wake, .events = POLLIN, .revents = 0};
    if (left <= 0ms || (wake >= 0 && ::poll(&entry, 1, 0) > 0)) break;
    poll(left, wake);
    if (reap()) finish();
  }
  return has_end_ ? std::optional(end_) : std::nullopt;
}

void MpiJob::request_stop() {
  wants_stop_ = true;
  send_stop_when_heard();
}

JobEnd MpiJob::kill() {
  if (has_end_) return end_;
  is_killed_ = true;
  find_ranks();
  for (const auto& rank : ranks_) rank.send(SIGKILL);
  const auto until = Clock::now() + launcher_grace;
  while (!launcher_.has_ended() && Clock::now() < until) poll(look_interval, -1);
  launcher_.send(SIGKILL);
  while (!reap()) poll(look_interval, -1);
  finish();
  return end_;
}

// Until all ranks are known, or those that are not must be elsewhere.
bool MpiJob::is_starting() const {
  return ranks_.size() < ranks_wanted_ && Clock::now() < started_ + start_time;
}

void MpiJob::find_ranks() {
  if (!is_starting()) return;
  for (const auto& process : find_job_processes(mark_)) {
    const auto is_it = [&](const ProcessHandle& rank) { return rank.pid() == process.pid; };
    if (!process.is_rank || std::any_of(ranks_.begin(), ranks_.end(), is_it)) continue;
    if (auto handle = ProcessHandle::open(process.pid)) ranks_.push_back(std::move(*handle));
  }
}

// Kills the survivors of a rank that has ended alone. After that mpirun often sleeps on for a
// second; where all ranks are of this host, nothing is left for it to do.
void MpiJob::note_deaths() {
  const auto live = live_ranks().size();
  if (live == ranks_.size()) return;
  if (!first_death_) first_death_ = Clock::now();
  const auto since = Clock::now() - *first_death_;
  if (live > 0 && since > survivor_grace) {
    end_.had_dead_ranks = true;
    for (const auto& rank : ranks_) rank.send(SIGKILL);
  }
  if (end_.had_dead_ranks && ranks_.size() == ranks_wanted_ &&
      since > survivor_grace + launcher_grace) {
    launcher_.send(SIGKILL);
  }
}

void MpiJob::send_stop_when_heard() {
  if (!wants_stop_ || !is_heard()) return;
  wants_stop_ = false;
  launcher_.send(SIGUSR1);
}

bool MpiJob::is_heard() const {
  const auto hears = [](const ProcessHandle& process) {
    return listens_to(process.pid(), SIGUSR1);
  };
  return !is_starting() && hears(launcher_) && std::all_of(ranks_.begin(), ranks_.end(), hears);
}

// Until a process of the job ends, something is to be looked at again, or `wake` is readable.
void MpiJob::poll(std::chrono::milliseconds time, int wake) const {
  std::vector<pollfd> entries{{.fd = wake, .events = POLLIN, .revents = 0},
                              {.fd = launcher_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const auto& rank : ranks_) {
    if (rank.has_ended()) continue;
    entries.push_back({.fd = rank.descriptor(), .events = POLLIN, .revents = 0});
  }
  if (is_starting() || wants_stop_ || first_death_) time = std::min(time, look_interval + 0ms);
  ::poll(entries.data(), entries.size(), static_cast<int>(time.count()));
}

bool MpiJob::reap() {
  int status = 0;
  if (::waitpid(launcher_.pid(), &status, WNOHANG) != launcher_.pid()) return false;
  end_.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

// mpirun has ended: nothing of the job may stay.
void MpiJob::finish() {
  end_.has_ended_alone = !is_killed_;
  const auto until = Clock::now() + death_time;
  for (const auto& process : find_job_processes(mark_)) {
    const auto survivor = ProcessHandle::open(process.pid);
    if (!survivor) continue;
    survivor->send(SIGKILL);
    while (!survivor->has_ended() && Clock::now() < until) std::this_thread::sleep_for(1ms);
  }
  remove_mpi_leftovers(launcher_.pid());
  has_end_ = true;
}

}  // namespace rubato::app
