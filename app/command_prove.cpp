// rubato prove: a training that is killed again and again ends as the one that never was.
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/kill_plan.hpp"
#include "app/killed_run.hpp"
#include "app/prove_options.hpp"
#include "app/prove_report.hpp"
#include "app/redirected_output.hpp"
#include "app/run_comparison.hpp"
#include "app/stop_signals.hpp"
#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "runtime/seconds_since.hpp"
#include "runtime/state_file.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double hittable_seconds = 0.25;  // between two kills; a signal needs some hundredths

// Where both runs are.
class RunsDirectory {
 public:
  explicit RunsDirectory(const std::optional<std::string>& kept) : is_temporary_(!kept) {
    if (kept) {
      path_ = *kept;
      make_kept();
      return;
    }
    path_ = (fs::temp_directory_path() / "rubato-prove-XXXXXX").string();
    std::string name = path_.string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw runtime::OutputError(name +
                                 ": cannot be made: " + std::generic_category().message(errno));
    }
    path_ = name;
  }

  const fs::path& path() const noexcept { return path_; }

  RunsDirectory(const RunsDirectory&) = delete;
  RunsDirectory& operator=(const RunsDirectory&) = delete;
  ~RunsDirectory() {
    std::error_code ignored;
    if (is_temporary_) fs::remove_all(path_, ignored);
  }

  // Leaves it, for somebody to look into.
  void keep() {
    if (is_temporary_) std::cerr << "rubato: the runs are kept in " << path_.string() << '\n';
    is_temporary_ = false;
  }

 private:
  void make_kept() const {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) {
      throw runtime::OutputError(path_.string() + ": cannot be made: " + error.message());
    }
    if (!fs::is_empty(path_)) {
      throw runtime::OutputError(path_.string() +
                                 ": is not empty; give --keep-runs a new directory");
    }
  }

  fs::path path_;
  bool is_temporary_;
};

// A training that failed where nobody killed it: its own code and sentence.
int explain_failure(const std::string& which, int code, const fs::path& log) {
  std::cerr << "rubato: the " << which << " ended with exit code " << code
            << "; its last line: " << last_line(log) << '\n';
  return code;
}

class Prover {
 public:
  Prover(ProvePlan plan, const fs::path& directory, StopSignals& signals)
      : plan_(std::move(plan)),
        signals_(signals),
        straight_(directory / "straight"),
        killed_(directory / "killed"),
        straight_log_(directory / "straight.log"),
        killed_log_(directory / "killed.log"),
        training_{.launcher = plan_.launcher,
                  .command = {fs::read_symlink("/proc/self/exe").string(), "train"}} {
    training_.command.insert(training_.command.end(), plan_.train.begin(), plan_.train.end());
    proof_.seed = plan_.seed;
    proof_.straight_ranks = plan_.straight_ranks;
  }

  int run() {
    if (const int code = run_straight(); code != exit_done) return code;
    const auto kills = draw_kills({.kills = plan_.kills,
                                   .seed = plan_.seed,
                                   .ranks = plan_.ranks,
                                   .updates = proof_.updates,
                                   .is_fast = proof_.is_fast});
    if (!plan_.wants_json) print_straight_run(std::cout, proof_);
    if (const int code = run_killed(kills); code != exit_done) return code;
    if (proof_.broken_promise.empty()) proof_.comparison = compare_runs(straight_, killed_);
    plan_.wants_json ? print_as_json(std::cout, proof_) : print_verdict(std::cout, proof_);
    return proof_.is_equal() ? exit_done : exit_internal;
  }

 private:
  int run_straight() {
    const auto begin = Clock::now();
    const int code =
        run_job(job_plan(training_, plan_.straight_ranks, straight_), straight_log_, signals_);
    if (code != exit_done) return explain_failure("straight run", code, straight_log_);
    proof_.straight_seconds = runtime::seconds_since(begin);
    proof_.updates = runtime::read_status(straight_).update;
    const auto stretch = static_cast<double>(plan_.kills);
    proof_.is_fast = proof_.straight_seconds / stretch < hittable_seconds;
    proof_.checkpoint_every = plan_.checkpoint_every.value_or(
        std::max<std::uint64_t>(1, proof_.updates / (3 * plan_.kills)));
    return exit_done;
  }

  int run_killed(const std::vector<Kill>& kills) {
    KilledRun run(training_, killed_, killed_log_, proof_.checkpoint_every, signals_);
    for (const auto& kill : kills) {
      const bool had_checkpoint = run.has_checkpoint();
      proof_.kills.push_back(run.start_and_kill(kill));
      const auto number = proof_.kills.size();
      if (!plan_.wants_json) print_kill(std::cout, number, proof_.kills.back());
      const auto broken = broken_promise(proof_.kills.back(), had_checkpoint);
      if (broken.empty()) continue;
      proof_.broken_promise = "kill " + std::to_string(number) + ": " + broken +
                              "; the last line of " + killed_log_.string() + ": " +
                              last_line(killed_log_);
      return exit_done;
    }
    proof_.last_ranks = plan_.ranks[plan_.seed % plan_.ranks.size()];
    const int code = run.finish(proof_.last_ranks);
    return code == exit_done ? code : explain_failure("last start", code, killed_log_);
  }

  ProvePlan plan_;
  StopSignals& signals_;
  fs::path straight_;
  fs::path killed_;
  fs::path straight_log_;
  fs::path killed_log_;
  Training training_;
  Proof proof_;
};

}  // namespace

int prove(int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  const auto bar = std::find(words.begin(), words.end(), "--");
  const OptionTable table = prove_table();
  const Options options = table.parse({words.begin(), bar});
  if (options.wants_help() || words.empty()) {
    std::cout << table.help();
    return exit_done;
  }
  if (bar == words.end()) {
    throw UsageError(
        "prove: the options of the training are missing: rubato prove [options] -- TRAIN OPTIONS");
  }
  ProvePlan plan = prove_plan(options, {std::next(bar), words.end()});
  StopSignals signals;
  RunsDirectory directory(plan.kept_directory);
  try {
    const int code = Prover(std::move(plan), directory.path(), signals).run();
    if (code != exit_done) directory.keep();
    return code;
  } catch (const Interrupted& interrupted) {
    std::cerr << "rubato: prove: broken off by " << signals.first() << '\n';
    return 128 + interrupted.signal();
  } catch (const data::ContentError&) {  // what cannot be read is worth a look
    directory.keep();
    throw;
  } catch (const data::MissingFileError&) {  // and so is what a run has not left
    directory.keep();
    throw;
  }
}

}  // namespace rubato::app
