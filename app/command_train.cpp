// rubato train: options to a run, and the run's reports to the terminal.
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cell_data.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/job_processes.hpp"
#include "app/options.hpp"
#include "app/progress_line.hpp"
#include "app/replayed_run.hpp"
#include "app/resumed_trace.hpp"
#include "app/run_from_options.hpp"
#include "app/train_options.hpp"
#include "app/training_report.hpp"
#include "collectives/agreement.hpp"
#include "collectives/session.hpp"
#include "data/batch_trace.hpp"
#include "runtime/run_context.hpp"
#include "runtime/run_directory.hpp"
#include "runtime/trainer.hpp"

namespace rubato::app {
namespace {

std::unique_ptr<runtime::RunLog> report_for(const Options& options, ProgressLine& progress) {
  const auto log_every = options.integer_if("log-every");
  const auto clear_line = [&progress] { progress.clear(); };
  if (options.text("format") == "json") {
    return std::make_unique<TrainingJson>(std::cout, log_every, clear_line);
  }
  return std::make_unique<TrainingTable>(std::cout, log_every, clear_line);
}

bool wants_progress(const Options& options) {
  const std::string& wish = options.text("progress");
  return wish == "always" || (wish == "auto" && is_watched());
}

// What a run has to say besides its report, on standard error.
class Warnings final : public runtime::RunLog {
 public:
  explicit Warnings(ProgressLine& progress) : progress_(progress) {}
  void begin(const runtime::RunFacts& facts) override {
    if (!facts.resumed_from.empty()) {
      std::cerr << "rubato: going on from " << facts.resumed_from << '\n';
    }
    for (const auto& sentence : facts.warnings) warning(sentence);
  }
  void update(const runtime::StepReport& report) override {
    if (report.skipped.empty()) return;
    warning("update " + std::to_string(report.update) + " is left out: " + report.skipped);
  }
  void warning(const std::string& sentence) override {
    progress_.clear();
    std::cerr << "rubato: warning: " << sentence << '\n';
  }

 private:
  ProgressLine& progress_;
};

struct Prepared {
  std::optional<Options> options;
  runtime::RunOptions run;
  runtime::OpenedRun opened;
};

// The run's own options beneath those given, which may change its end, but not its course.
void go_on(const OptionTable& table, const std::vector<std::string>& words, Prepared& prepared) {
  const runtime::ResumePoint& point = *prepared.opened.resume;
  const std::string before = runtime::configuration_of(point.checkpoint);
  prepared.options = table.parse(words, before);
  table.require_unchanged(*prepared.options, before);
  prepared.run = run_from(*prepared.options);
  const auto schedule = run_from(table.parse(std::vector<std::string>(), before)).schedule;
  if (prepared.run.schedule.span != schedule.span) {
    throw UsageError(
        "--epochs: the run's schedule depends on its end, and a resumed run keeps it;"
        " leave the option out, or begin another run");
  }
  const auto copy = *prepared.run.output / "trace.csv";
  if (!std::filesystem::exists(copy)) return;
  if (!std::filesystem::exists(prepared.run.trace_file)) {
    prepared.run.trace_file = copy;
  } else if (!is_trace_of(point.checkpoint, data::BatchTrace::from_csv(prepared.run.trace_file))) {
    require_same_trace(prepared.run.trace_file, copy);
  }
}

// Where there is nothing to go on with.
void require_beginning(const Options& options) {
  if (!options.flag("resume") || options.has_value("data")) return;
  throw UsageError(
      "--resume: " + options.text("out") +
      " holds no run to go on with; to begin one there, give its options (--data ...)");
}

// Collective. Opens the output directory first: a run to go on with has its options there.
Prepared prepare(const collectives::Communicator& world, const OptionTable& table, int argc,
                 char** argv) {
  Prepared prepared;
  std::vector<std::string> words(argv + 2, argv + argc);
  collectives::agree(
      world,
      [&] {
        words = with_replay_written_out(table, std::move(words));
        prepared.options = table.parse(words);
        if (!prepared.options->flag("resume")) prepared.run = run_from(*prepared.options);
      },
      explain);
  const auto directory = prepared.options->text_if("out");
  if (!directory && prepared.options->flag("resume")) {
    throw collectives::AgreedFailure(
        {exit_usage, "--resume: say which run to go on with; give --out DIR"});
  }
  if (directory) {
    prepared.opened = runtime::open_run(world, *directory, output_mode(*prepared.options), explain);
  }
  collectives::agree(
      world,
      [&] {
        if (prepared.opened.resume) {
          go_on(table, words, prepared);
        } else {
          require_beginning(*prepared.options);
          prepared.run = run_from(*prepared.options);
        }
      },
      explain);
  prepared.run.data_image = provided_data_image();
  return prepared;
}

int report_stop(const collectives::Communicator& world, const runtime::RunEnd& end,
                const Options& options) {
  if (world.rank() == 0) {
    const bool is_supervised = std::getenv(job_mark_variable) != nullptr;  // that goes on by itself
    std::cerr << "rubato: " + end.reason + " after update " + std::to_string(end.updates) +
                     (is_supervised ? ""
                                    : "; go on with: mpirun -q -n RANKS rubato train --out " +
                                          options.text("out") + " --resume") +
                     "\n";
  }
  return static_cast<int>(options.integer("preempt-exit-code"));
}

int train_on(const collectives::Communicator& world, const OptionTable& table, int argc,
             char** argv, const runtime::StopRequest* stop_request) {
  Prepared prepared = prepare(world, table, argc, argv);
  prepared.run.stop_request = stop_request;
  const Options& options = *prepared.options;
  runtime::Trainer trainer(world, prepared.run, explain, std::move(prepared.opened));
  if (trainer.is_finished()) {
    if (world.rank() == 0) {
      std::cerr << "rubato: the run in " << options.text("out") << " is at its end, after update "
                << trainer.facts().start.update << "; there is nothing to do\n";
    }
    return exit_done;
  }
  ProgressLine progress;
  Warnings warnings(progress);
  const auto report = report_for(options, progress);
  std::vector<runtime::RunLog*> logs{&warnings, report.get()};
  if (wants_progress(options)) logs.push_back(&progress);
  const runtime::RunEnd end = trainer.run(logs);
  return end.was_stopped ? report_stop(world, end, options) : exit_done;
}

// What is wrong with the options is told later, by all ranks.
bool writes_to_a_directory(const OptionTable& table, int argc, char** argv) {
  try {
    return table.parse(argc, argv).has_value("out");
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

int train(int argc, char** argv) {
  const OptionTable table = train_table();
  if (asks_for_help(argc, argv)) {
    std::cout << table.help();
    return exit_done;
  }
  // From before MPI starts until after it has ended, so that no signal comes too early or too late.
  // A run that writes nothing has nothing to stop for: there a signal ends it.
  std::optional<runtime::StopRequest> stop_request;
  if (writes_to_a_directory(table, argc, argv)) stop_request.emplace();
  const auto* const stop = stop_request ? &*stop_request : nullptr;
  return collectives::run_session(
      argc, argv,
      [&](collectives::Communicator& world) { return train_on(world, table, argc, argv, stop); },
      explain);
}

}  // namespace rubato::app
