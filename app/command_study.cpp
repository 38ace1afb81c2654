// rubato study: every cell of a grid trained, one after the other, and what they found as tables.
//
//   OUT/study.ini              the file
//   OUT/run.lock               one study at a time writes here
//   OUT/cells/CELL/            a run, as rubato train makes it
//   OUT/cells/CELL.log         what it printed
//   OUT/results.{md,csv,json}  of the cells that are over, written anew after each
//   OUT/report.html            the same with plots, at the end
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/cell_data.hpp"
#include "app/cell_trial.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/file_text.hpp"
#include "app/job_options.hpp"
#include "app/killed_run.hpp"
#include "app/mpi_job.hpp"
#include "app/opened_study.hpp"
#include "app/progress_line.hpp"
#include "app/redirected_output.hpp"
#include "app/report_content.hpp"
#include "app/restart_policy.hpp"
#include "app/run_from_options.hpp"
#include "app/run_progress.hpp"
#include "app/stop_signals.hpp"
#include "app/study_files.hpp"
#include "app/study_listing.hpp"
#include "app/study_markdown.hpp"
#include "app/study_options.hpp"
#include "app/study_progress.hpp"
#include "app/study_results.hpp"
#include "app/train_options.hpp"
#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "runtime/run_lock.hpp"
#include "runtime/seconds_since.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Action = RestartDecision::Action;

constexpr auto signal_interval = 200ms;
constexpr auto longest_wait_for_a_run = 60s;  // of an earlier study, to write its checkpoint
constexpr std::uint64_t most_failures = 2;    // of a cell, without progress
constexpr double backoff_seconds = 1;
constexpr int most_refusals = 3;  // of a directory that is in use

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (!error) return;
  throw runtime::OutputError(directory.string() + ": cannot be made: " + error.message());
}

class Study {
 public:
  Study(StudyPlan plan, const OptionTable& train)
      : plan_(std::move(plan)), study_(plan_.file, train) {
    CellTrial trial(plan_.ranks, stays_ ? cores_here() : plan_.ranks);
    CellData data_of_trial;
    CellData& data = stays_ ? data_ : data_of_trial;
    study_.try_cells([&](runtime::RunOptions run) {
      data.provide(run.data);
      run.data_image = provided_data_image();
      return trial.seconds(run);
    });
  }

  void list() const { print_listing(std::cout, study_.cells(), study_.courses()); }

  int run(StopSignals& signals) {
    require_files();
    make_directory(study_.directory() / "cells");
    const runtime::RunLock lock(study_.directory());
    files_.write_study(file_text(plan_.file));
    for (std::size_t index = 0; index < study_.cells().size(); ++index) {
      if (course(index).is_over()) continue;
      if (const int code = run_cell(index, signals); code != exit_done) return code;
      line_.clear();
      std::cout << finished_text(index, study_.cells(), study_.courses()) << std::endl;
      files_.write_results(results());
    }
    files_.write_results(results());
    tell_results(files_.write_report(
        report_study(study_.directory(), study_.name(), study_.cells(), study_.courses())));
    return exit_done;
  }

 private:
  const StudyCell& cell(std::size_t index) const { return study_.cells()[index]; }
  const CellCourse& course(std::size_t index) const { return study_.courses()[index]; }
  fs::path directory_of(std::size_t index) const { return study_.directory_of(cell(index)); }

  // A new study begins with all its files, or not at all. (Other hosts may have others; what a cell
  // that has begun still needs, it says itself.)
  void require_files() const {
    const auto has_begun = [](const CellCourse& one) { return one.state != CellState::absent; };
    if (!stays_ || std::ranges::any_of(study_.courses(), has_begun)) return;
    for (const auto& one : study_.cells()) {
      if (!one.why_not_tried.empty()) throw data::MissingFileError(one.why_not_tried);
    }
  }

  // Until it is over. An exit code if the study cannot go on.
  int run_cell(std::size_t index, StopSignals& signals) {
    const auto directory = directory_of(index);
    RestartPolicy policy(most_failures, backoff_seconds);
    int refusals = 0;
    if (stays_) data_.provide(data_options(study_.options_of(cell(index))));
    signals.look();  // what came meanwhile
    while (true) {
      wait_until_unused(directory, signals);
      if (signals.wants_stop()) return tell_stop(signals);
      const int code = run_job(index, signals);
      study_.read_course(index);
      const bool has_failed = code == exit_internal || code > 128;
      if (has_failed && course(index).state == CellState::diverged) return exit_done;
      if (code == exit_cannot_create && ++refusals < most_refusals && !signals.wants_stop()) {
        wait(std::chrono::duration<double>(backoff_seconds), signals);
        continue;
      }
      const auto decision = policy.after(code, last_update(directory));
      if (decision.action == Action::finish) return exit_done;
      if (signals.wants_stop()) return tell_stop(signals);
      if (decision.action == Action::stop) return tell_stopped_cell(index);
      if (decision.action == Action::give_up) return tell_failure(index, code, decision.reason);
      wait(std::chrono::duration<double>(decision.delay_seconds), signals);
    }
  }

  int run_job(std::size_t index, StopSignals& signals) {
    const auto directory = directory_of(index);
    const Training training{.launcher = plan_.launcher, .command = {program_, "train"}};
    std::vector<std::string> words{"--resume"};
    for (const auto& [name, value] : cell(index).options) {
      words.push_back("--" + name + "=" + value);
    }
    std::optional<MpiJob> job;
    {
      const RedirectedOutput to_log(directory.string() + ".log");
      job.emplace(job_plan(training, plan_.ranks, directory, words));
    }
    return watch(*job, index, signals);
  }

  // Shows how far it is, and hands on the wish to stop. Its exit code.
  int watch(MpiJob& job, std::size_t index, StopSignals& signals) {
    const auto begin = Clock::now();
    RunningCell running{.index = index, .begun_at = last_update(directory_of(index))};
    bool was_asked = false;
    while (true) {
      if (const auto end = job.wait_for(signal_interval, signals.descriptor()))
        return end->exit_code;
      signals.look();
      if (signals.wants_kill()) return job.kill().exit_code;
      if (signals.wants_stop() && !was_asked) job.request_stop();
      was_asked = signals.wants_stop();
      running.seconds = runtime::seconds_since(begin);
      show(running);
    }
  }

  void show(RunningCell& running) {
    if (!is_watched_ || !line_.is_due()) return;
    const auto directory = directory_of(running.index);
    running.update = last_update(directory);
    // What was lost with an earlier start is run again.
    running.begun_at = std::min(running.begun_at, running.update);
    running.total_updates = total_updates(directory);
    line_.show(progress_text(running, study_.cells(), study_.courses()));
  }

  // If the study is killed, mpirun gets SIGTERM, and the ranks have a second for a checkpoint. (In
  // launch it gets SIGUSR1, and more time; but one that is only starting would then go on to its
  // end.) Ranks that have no lock yet take it from those that come next: hence most_refusals.
  static void wait_until_unused(const fs::path& directory, StopSignals& signals) {
    const auto until = Clock::now() + longest_wait_for_a_run;
    while (true) {
      try {
        runtime::require_unused(directory);
        return;
      } catch (const runtime::OutputError&) {
        if (Clock::now() > until) throw;
      }
      wait(signal_interval, signals);
      if (signals.wants_stop()) return;
    }
  }

  static void wait(std::chrono::duration<double> time, StopSignals& signals) {
    pollfd entry{.fd = signals.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, static_cast<int>(1000 * time.count()));
    signals.look();
  }

  StudyResults results() const {
    return results_of(study_.name(), study_.cells(), study_.courses());
  }

  void tell_results(const std::string& why_no_report) const {
    std::cout << '\n'
              << results_as_markdown(results()) << '\n'
              << "results: " << (study_.directory() / "results.md").string() << ", .csv, .json\n";
    if (why_no_report.empty()) {
      std::cout << "report: " << (study_.directory() / "report.html").string() << '\n';
    } else {
      std::cerr << "rubato: warning: no report.html: " << why_no_report << '\n';
    }
  }

  int tell_stop(const StopSignals& signals) {
    line_.clear();
    std::cerr << "rubato: study: stopped by " << signals.first() << "; the same command goes on\n";
    return exit_stopped;
  }

  int tell_stopped_cell(std::size_t index) {
    line_.clear();
    const auto directory = directory_of(index);
    std::cerr << "rubato: study: the cell " << cell(index).name << " was "
              << stop_reason(directory).value_or("asked to stop by somebody else")
              << "; the same command goes on\n";
    return exit_stopped;
  }

  int tell_failure(std::size_t index, int code, const std::string& reason) {
    line_.clear();
    std::cerr << "rubato: study: the cell " << cell(index).name << ": " << reason
              << "; its last line: " << last_line(directory_of(index).string() + ".log") << '\n';
    return code;
  }

  StudyPlan plan_;
  bool stays_ = stays_here(plan_.launcher);
  OpenedStudy study_;
  const StudyFiles files_{study_.directory()};
  CellData data_;
  // Asked for at once: where it is built anew meanwhile, its name is "... (deleted)".
  std::string program_ = fs::read_symlink("/proc/self/exe").string();
  bool is_watched_ = is_watched();
  TerminalLine line_;
};

}  // namespace

int study(int argc, char** argv) {
  const OptionTable table = study_table();
  if (asks_for_help(argc, argv) || argc == 2) {
    std::cout << table.help();
    return exit_done;
  }
  const StudyPlan plan = study_plan(table.parse(argc, argv));
  const OptionTable train = train_table();
  Study study(plan, train);
  if (plan.is_dry_run) {
    study.list();
    return exit_done;
  }
  StopSignals signals;
  return study.run(signals);
}

}  // namespace rubato::app
