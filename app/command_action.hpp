// Commands of several actions: rubato trace show, rubato checkpoint list.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

struct CommandAction {
  std::string name;
  OptionTable (*table)();
  int (*run)(const Options&);  // returns the exit code
};

// Runs the action that argv[2] names, or prints its help; for --help in its place, `help`. Throws
// UsageError if there is none, or (with the nearest) none of that name.
int run_action(const std::string& command, const std::string& help,
               const std::vector<CommandAction>& actions, int argc, char** argv);

}  // namespace rubato::app
