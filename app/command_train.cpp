// rubato train: options to a run, and the run's reports to the terminal.
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/options.hpp"
#include "app/progress_line.hpp"
#include "app/run_from_options.hpp"
#include "app/train_options.hpp"
#include "app/training_report.hpp"
#include "collectives/agreement.hpp"
#include "collectives/session.hpp"
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

int train_on(const collectives::Communicator& world, const OptionTable& table, int argc,
             char** argv) {
  std::optional<Options> options;
  runtime::RunOptions run;
  collectives::agree(
      world,
      [&] {
        options = table.parse(argc, argv);
        run = run_from(*options);
      },
      explain);
  runtime::Trainer trainer(world, run, explain);
  if (world.rank() == 0) {
    for (const auto& warning : trainer.facts().warnings) {
      std::cerr << "rubato: warning: " << warning << '\n';
    }
  }
  ProgressLine progress;
  const auto report = report_for(*options, progress);
  std::vector<runtime::RunLog*> logs{report.get()};
  if (wants_progress(*options)) logs.push_back(&progress);
  trainer.run(logs);
  return exit_done;
}

}  // namespace

int train(int argc, char** argv) {
  const OptionTable table = train_table();
  if (asks_for_help(argc, argv)) {
    std::cout << table.help();
    return exit_done;
  }
  return collectives::run_session(
      argc, argv,
      [&](collectives::Communicator& world) { return train_on(world, table, argc, argv); },
      explain);
}

}  // namespace rubato::app
