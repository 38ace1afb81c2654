// rubato: the command. Finds the subcommand by its name, and turns what reaches the top into one
// sentence on stderr and an exit code. MPI is started only by the commands that need it, so the
// others also work on a login node.
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/spelling.hpp"
#include "runtime/version.hpp"

namespace {

using namespace rubato;

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
  std::string_view summary;
};

constexpr std::array commands{
    Command{"train", app::train, "train a model; the global batch size may change at every update"},
    Command{"launch", app::launch,
            "keep a training running: through failures, and as devices change"},
    Command{"prove", app::prove, "kill a training again and again: its result stays the same"},
    Command{"evaluate", app::evaluate, "accuracy and loss of a checkpoint, for each class too"},
    Command{"study", app::study, "train every cell of a grid, and draw the table"},
    Command{"report", app::report, "draw runs and studies, as one HTML file that opens offline"},
    Command{"plan", app::plan, "show which minibatches every rank would run, without running"},
    Command{"trace", app::trace, "show, check or make a batch-size trace"},
    Command{"checkpoint", app::checkpoint, "look into checkpoints"},
    Command{"doctor", app::doctor, "examine this machine and its MPI, and say what to repair"},
};

void print_overview() {
  std::cout
      << "rubato: data-parallel training over MPI with a global batch size that changes.\n"
         "Ranks change the speed, never the result.\n\n"
         "Usage: rubato COMMAND [options]       rubato COMMAND --help       rubato --version\n"
         "       mpirun -q -n RANKS rubato train [options]\n\n";
  for (const auto& command : commands) {
    std::cout << "  " << command.name << std::string(12 - command.name.size(), ' ')
              << command.summary << '\n';
  }
  std::cout << "\nExample:\n  mpirun -q -n 2 rubato train --data digits --model mlp:64"
               " --trace trace.csv\n";
}

int print_version() {
  std::cout << "rubato " << runtime::version << " (" << runtime::revision << ", "
            << runtime::compiler << ", " << runtime::build_type << ")\n";
  return app::exit_done;
}

int run_command(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "help";
  if (word == "help" || word == "--help" || word == "-h") {
    print_overview();
    return app::exit_done;
  }
  if (word == "--version") return print_version();
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command.name);
  app::require_choice("command", word, names);
  const auto is_it = [&](const Command& command) { return command.name == word; };
  return std::find_if(commands.begin(), commands.end(), is_it)->run(argc, argv);
}

// Output that could not be written (a full disk, a closed pipe) is a failure, however well the work
// went.
int check_output(int exit_code) {
  std::cout.flush();
  if (std::cout) return exit_code;
  std::cerr << "rubato: standard output cannot be written\n";
  return app::exit_io;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error of write(), not the end
  try {
    return check_output(run_command(argc, argv));
  } catch (...) {
    const auto failure = app::explain(std::current_exception());
    std::cout.flush();
    std::cerr << "rubato: " << failure.message << '\n';
    return failure.exit_code;
  }
}
