// See command_action.hpp.
#include "app/command_action.hpp"

#include <algorithm>
#include <iostream>

#include "app/failure.hpp"
#include "app/spelling.hpp"

namespace rubato::app {
namespace {

// "list, show or diff"
std::string enumeration(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 < names.size() ? ", " : " or ") + names[i];
  }
  return text;
}

}  // namespace

int run_action(const std::string& command, const std::string& help,
               const std::vector<CommandAction>& actions, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CommandAction& action : actions) names.push_back(action.name);
  const std::string wanted = argc > 2 ? argv[2] : "";
  if (wanted.empty()) throw UsageError(command + ": say what to do: " + enumeration(names));
  if (wanted == "--help" || wanted == "-h") {
    std::cout << help;
    return exit_done;
  }
  require_choice("action", wanted, names);
  const auto action = std::ranges::find(actions, wanted, &CommandAction::name);
  const OptionTable table = action->table();
  const Options options = table.parse(argc, argv, 3);
  if (!options.wants_help()) return action->run(options);
  std::cout << table.help();
  return exit_done;
}

}  // namespace rubato::app
