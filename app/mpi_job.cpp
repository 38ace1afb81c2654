// See mpi_job.hpp.
#include "app/mpi_job.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "app/job_options.hpp"
#include "app/launcher_start.hpp"

namespace rubato::app {
namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 40ms;  // while ranks are still being started
constexpr auto start_time = 5s;       // after which ranks not seen here are on other hosts
constexpr auto survivor_grace = 400ms;
constexpr auto ending_grace = 10s;      // of a run that has come to its end
constexpr auto death_time = 5s;         // of killed processes; longer only in a stuck file system
constexpr auto launcher_grace = 150ms;  // for mpirun to end after its ranks; at best 0.04 s

std::string new_mark() {
  std::random_device random;  // process ids alone repeat, between containers too
  return std::to_string(::getpid()) + "-" + std::to_string(random()) + std::to_string(random());
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
      is_ending_(plan.is_ending),
      launcher_(start_launcher({.command = launch_words(plan, cores_here()),
                                .mark = mark_,
                                .stops_by_usr1 = plan.stops_by_usr1})) {}

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
  const auto processes = find_job_processes(mark_);
  for (const auto& process : processes) {
    const auto is_it = [&](const ProcessHandle& rank) { return rank.pid() == process.pid; };
    if (!process.is_rank || std::any_of(ranks_.begin(), ranks_.end(), is_it)) continue;
    if (auto handle = ProcessHandle::open(process.pid)) ranks_.push_back(std::move(*handle));
  }
  find_session(processes);
}

void MpiJob::find_session(const std::vector<JobProcess>& processes) {
  if (session_ && session_->family) return;
  auto found = find_mpi_session(find_mpirun(processes, launcher_.pid()));
  if (found) session_ = std::move(found);
}

// Kills the survivors of a rank that has ended alone. After that mpirun often sleeps on for a
// second; where all ranks are of this host, nothing is left for it to do.
void MpiJob::note_deaths() {
  const auto live = live_ranks().size();
  if (live == ranks_.size()) return;
  if (!first_death_) first_death_ = Clock::now();
  const auto now = Clock::now();
  const auto since = now - *first_death_;
  const bool may_end = since <= survivor_grace || (since <= ending_grace && is_ending_());
  if (live > 0 && !may_end && !survivors_killed_) {
    survivors_killed_ = now;
    end_.had_dead_ranks = true;
    for (const auto& rank : ranks_) rank.send(SIGKILL);
  }
  if (survivors_killed_ && ranks_.size() == ranks_wanted_ &&
      now > *survivors_killed_ + launcher_grace) {
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
  const auto processes = find_job_processes(mark_);
  find_session(processes);
  for (const auto& process : processes) {
    const auto survivor = ProcessHandle::open(process.pid);
    if (!survivor) continue;
    survivor->send(SIGKILL);
    while (!survivor->has_ended() && Clock::now() < until) std::this_thread::sleep_for(1ms);
  }
  if (session_) remove_mpi_leftovers(*session_);
  has_end_ = true;
}

}  // namespace rubato::app
