// rubato checkpoint: list, show, verify, digest or diff checkpoints. Nothing is ever written.
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "app/checkpoint_diff.hpp"
#include "app/checkpoint_files.hpp"
#include "app/checkpoint_list.hpp"
#include "app/checkpoint_options.hpp"
#include "app/checkpoint_show.hpp"
#include "app/command_action.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

constexpr int exit_differs = 1;

bool is_json(const Options& options) { return options.text("format") == "json"; }

// A file, or the newest good checkpoint of a directory; what is passed over is told.
NamedCheckpoint read(const std::string& path) {
  NamedCheckpoint named = read_newest(path);
  for (const std::string& reason : named.skipped) {
    std::cerr << "rubato: warning: " << reason << '\n';
  }
  return named;
}

int list(const Options& options) {
  const std::string& directory = options.positionals()[0];
  if (!std::filesystem::is_directory(directory)) {
    throw data::MissingFileError(directory + ": not a directory; expected the directory of a run");
  }
  std::vector<CheckpointFile> files;
  for (const auto& file : checkpoint_files(directory)) files.push_back(inspect(file));
  if (is_json(options)) {
    list_as_json(std::cout, files);
  } else {
    const auto now = std::chrono::system_clock::now();
    list_as_table(std::cout, files, std::chrono::system_clock::to_time_t(now));
  }
  return exit_done;
}

int show_content(const Options& options) {
  const NamedCheckpoint named = read(options.positionals()[0]);
  is_json(options) ? show_as_json(std::cout, named) : show_as_text(std::cout, named);
  return exit_done;
}

// One line for each checkpoint. Whether all are good.
bool verify_all(const std::string& path) {
  bool are_good = true;
  for (const auto& file : checkpoint_files(path)) {
    const CheckpointFile found = inspect(file);
    are_good = are_good && found.problem.empty();
    std::cout << (found.problem.empty() ? file.string() + ": good" : found.problem) << std::endl;
  }
  return are_good;
}

// Of what is damaged and what is missing, the former is worse.
int verify(const Options& options) {
  bool are_good = true;
  bool are_there = true;
  for (const std::string& path : options.positionals()) {
    try {
      are_good = verify_all(path) && are_good;
    } catch (const data::MissingFileError& error) {
      std::cerr << "rubato: " << error.what() << std::endl;
      are_there = false;
    }
  }
  return !are_good ? exit_content : !are_there ? exit_missing_file : exit_done;
}

int digest(const Options& options) {
  for (const std::string& path : options.positionals()) {
    const NamedCheckpoint named = read(path);
    std::cout << runtime::state_digest(named.checkpoint.state) << "  " << named.file.string()
              << '\n';
  }
  return exit_done;
}

int diff(const Options& options) {
  const NamedCheckpoint first = read(options.positionals()[0]);
  const NamedCheckpoint second = read(options.positionals()[1]);
  const auto found = differences(first.checkpoint.state, second.checkpoint.state);
  is_json(options) ? print_differences_as_json(std::cout, found)
                   : print_differences(std::cout, found);
  return found.empty() ? exit_done : exit_differs;
}

}  // namespace

int checkpoint(int argc, char** argv) {
  return run_action(
      "checkpoint",
      "rubato checkpoint: the saved states of runs\n\n"
      "Usage: rubato checkpoint list DIR         which ones a run has\n"
      "       rubato checkpoint show FILE|DIR    what is in one\n"
      "       rubato checkpoint verify PATH...   whether they are whole\n"
      "       rubato checkpoint digest PATH...   one line for each state\n"
      "       rubato checkpoint diff A B         where two differ\n"
      "Of a directory, or of `latest` in it, the newest good checkpoint is taken. Each has its "
      "own --help.\n",
      {{"list", checkpoint_list_table, list},
       {"show", checkpoint_show_table, show_content},
       {"verify", checkpoint_verify_table, verify},
       {"digest", checkpoint_digest_table, digest},
       {"diff", checkpoint_diff_table, diff}},
      argc, argv);
}

}  // namespace rubato::app
