// See killed_run.hpp.
#include "app/killed_run.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/failure.hpp"
#include "app/kill_job.hpp"
#include "app/metrics_follower.hpp"
#include "app/redirected_output.hpp"
#include "app/run_progress.hpp"
#include "runtime/checkpoint_store.hpp"
#include "runtime/seconds_since.hpp"

namespace rubato::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int exit_of_signalled_mpirun = 1;  // Open MPI's, whatever the ranks return

void start(std::optional<MpiJob>& job, const MpiJobPlan& plan, const std::filesystem::path& log) {
  const RedirectedOutput to_log(log);
  job.emplace(plan);
}

std::vector<int> expected_codes(const KillRecord& record) {
  if (record.has_stopped_first) return {exit_stopped};
  std::vector<int> codes;
  switch (record.kill.way) {
    case KillWay::rank:
    case KillWay::launcher:
      codes = {128 + SIGKILL};
      break;
    case KillWay::terminate:
      codes = {exit_of_signalled_mpirun};
      // Before it has its handler, it dies of the signal.
      if (record.kill.moment == KillMoment::at_start) codes.push_back(128 + SIGTERM);
      // It ends the ranks of one host before those of others, and is not waited for then.
      if (record.had_dead_ranks) codes.push_back(128 + SIGKILL);
      break;
    case KillWay::stop:
    case KillWay::planned:
      return {exit_stopped};
  }
  // It may have come to its planned stop while the signal was on its way.
  if (record.at_update >= record.kill.stop_update) codes.push_back(exit_stopped);
  return codes;
}

std::string broken_exit(const KillRecord& record) {
  const auto codes = expected_codes(record);
  if (std::find(codes.begin(), codes.end(), record.exit_code) != codes.end()) return {};
  return "exit code " + std::to_string(record.exit_code) + ", expected " +
         std::to_string(codes.front());
}

std::string update_text(std::optional<std::uint64_t> update) {
  return update ? "update " + std::to_string(*update) : "none";
}

}  // namespace

MpiJobPlan job_plan(const Training& training, std::uint64_t ranks,
                    const std::filesystem::path& directory,
                    const std::vector<std::string>& more_options) {
  MpiJobPlan plan{.launcher = training.launcher,
                  .ranks = ranks,
                  .command = training.command,
                  .is_ending = end_notice(directory)};
  plan.command.insert(plan.command.end(), {"--out", directory.string()});
  plan.command.insert(plan.command.end(), more_options.begin(), more_options.end());
  return plan;
}

std::string broken_promise(const KillRecord& record, bool had_checkpoint) {
  if (record.is_stuck) return "the job did not end within a minute";
  if (auto broken = broken_exit(record); !broken.empty()) return broken;
  if (record.resumed_from && *record.resumed_from != record.expected_from) {
    return "it went on from update " + std::to_string(*record.resumed_from) +
           ", not from the newest checkpoint, of update " + std::to_string(record.expected_from);
  }
  if (!record.damaged.empty()) return record.damaged.front();
  if (had_checkpoint && record.kept_update.value_or(0) < record.expected_from) {
    return "the checkpoint of update " + std::to_string(record.expected_from) +
           " is lost; the newest good one is of " + update_text(record.kept_update);
  }
  if (had_checkpoint && !record.kept_update) return "no checkpoint is left";
  if (record.exit_code == exit_stopped && record.kept_update != record.at_update) {
    return "it stopped after update " + std::to_string(record.at_update) +
           ", but its newest checkpoint is of " + update_text(record.kept_update);
  }
  return {};
}

KilledRun::KilledRun(Training training, std::filesystem::path directory, std::filesystem::path log,
                     std::uint64_t checkpoint_every, StopSignals& signals)
    : training_(std::move(training)),
      directory_(std::move(directory)),
      log_(std::move(log)),
      checkpoint_every_(checkpoint_every),
      signals_(signals) {}

KillRecord KilledRun::start_and_kill(const Kill& kill) {
  const auto begin = Clock::now();
  KillRecord record{.kill = kill, .expected_from = newest_.value_or(0)};
  // A start may be further than its kill was planned for: it goes on for an update at least.
  record.kill.stop_update = std::max(kill.stop_update, record.expected_from + 1);
  record.kill.update = std::clamp(kill.update, record.expected_from + 1, record.kill.stop_update);
  MetricsFollower follower(directory_, record.expected_from);
  const auto plan = job_plan(training_, kill.ranks, directory_,
                             {"--resume", "--checkpoint-every", std::to_string(checkpoint_every_),
                              "--stop-after-update", std::to_string(record.kill.stop_update)});
  std::optional<MpiJob> job;
  start(job, plan, log_);
  const auto killed =
      kill_job(*job, record.kill, follower, directory_, 3 * checkpoint_every_, signals_);
  follower.look();
  record.has_stopped_first = killed.has_stopped_first;
  record.is_stuck = killed.is_stuck;
  record.had_dead_ranks = killed.end.had_dead_ranks;
  record.exit_code = killed.end.exit_code;
  record.resumed_from = follower.resumed_from();
  record.at_update = follower.update();
  record.seconds = runtime::seconds_since(begin);
  look_at_checkpoints(record);
  return record;
}

void KilledRun::look_at_checkpoints(KillRecord& record) {
  const auto found = runtime::newest_good_checkpoint(directory_);
  if (found.newest) record.kept_update = found.newest->stored.update;
  for (const auto& skipped : found.skipped) record.damaged.push_back(skipped.reason);
  if (record.kept_update) newest_ = record.kept_update;
}

int KilledRun::finish(std::uint64_t ranks) {
  return run_job(job_plan(training_, ranks, directory_,
                          {"--resume", "--checkpoint-every", std::to_string(checkpoint_every_)}),
                 log_, signals_);
}

int run_job(const MpiJobPlan& plan, const std::filesystem::path& log, StopSignals& signals) {
  std::optional<MpiJob> job;
  start(job, plan, log);
  while (true) {
    const auto end = job->wait_for(std::chrono::minutes(1), signals.descriptor());
    if (end) return end->exit_code;
    signals.require_none();
  }
}

}  // namespace rubato::app
