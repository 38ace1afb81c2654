// rubato launch: a training that goes on through failures and changes of capacity.
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/launch_events.hpp"
#include "app/launch_options.hpp"
#include "app/stop_signals.hpp"
#include "app/supervisor.hpp"
#include "runtime/run_lock.hpp"

namespace rubato::app {

int launch(int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  const OptionTable table = launch_table();
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    std::cout << table.help();
    return exit_done;
  }
  const LaunchWords split = split_launch_words(words);
  const Options options = table.parse(split.own);
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  LaunchPlan plan = launch_plan(options, split, program);
  runtime::require_unused(plan.directory);
  auto capacity = capacity_source(options, plan.limits);
  LaunchEvents events(plan.directory, std::cerr);
  StopSignals signals;
  return Supervisor(std::move(plan), std::move(capacity), signals, events).run();
}

}  // namespace rubato::app
