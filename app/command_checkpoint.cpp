// rubato checkpoint digest FILE...: one line for the whole training state, equal for equal states.
#include <iostream>
#include <string>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/options.hpp"
#include "app/spelling.hpp"
#include "runtime/checkpoint.hpp"

namespace rubato::app {
namespace {

OptionTable digest_table() {
  OptionTable::About about;
  about.command = "checkpoint digest";
  about.summary = "verify checkpoints, and print the digest of the training state in each.";
  about.example = "rubato checkpoint digest runs/first/checkpoints/ckpt-100.h5";
  about.notes =
      "The digest covers weights, optimizer, rule and position: it is the same for every number of"
      " ranks. (sha256sum -c verifies the file itself.)";
  about.positionals = {.names = "FILE...", .least = 1, .most = 4096};
  return {about, {}};
}

}  // namespace

int checkpoint(int argc, char** argv) {
  const std::string action = argc > 2 ? argv[2] : "";
  if (action.empty()) throw UsageError("checkpoint: say what to do: digest");
  const OptionTable table = digest_table();
  if (action == "--help" || action == "-h") {
    std::cout << table.help();
    return exit_done;
  }
  require_choice("action", action, std::vector<std::string>{"digest"});
  const Options options = table.parse(argc, argv, 3);
  if (options.wants_help()) {
    std::cout << table.help();
    return exit_done;
  }
  for (const std::string& file : options.positionals()) {
    std::cout << runtime::state_digest(runtime::read_checkpoint(file).state) << "  " << file << '\n';
  }
  return exit_done;
}

}  // namespace rubato::app
