// DIR/state.json: where a run stands, for people and programs that watch over it.
//
// Replaced as a whole, so that a reader finds one state or the next. It is a notice, not a source:
// what a run goes on from is its checkpoint. Whether a "running" run still lives, its lock tells
// (run_lock.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rubato::runtime {

enum class RunState { running, preempted, finished, failed };

struct RunStatus {
  RunState state = RunState::running;
  std::uint64_t update = 0;  // updates done
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;                   // used so far
  std::optional<std::uint64_t> total_updates;  // where the end is known
  std::uint64_t ranks = 1;
  std::vector<std::string> hosts;
  std::int64_t pid = 0;  // of rank 0, on the first host
  std::string started;   // UTC, as the next
  std::string written;   // empty: write_status() fills in the time
  std::string reason;    // why it ended, or where it was asked to
  std::optional<int> exit_code;
  std::string resume_command;  // how to go on; empty: there is nothing to go on with

  bool operator==(const RunStatus&) const = default;
};

std::string name_of(RunState state);  // "running"

std::filesystem::path state_path(const std::filesystem::path& directory);  // DIR/state.json

// Throws WriteError.
void write_status(const std::filesystem::path& directory, const RunStatus& status);

// Throws data::MissingFileError, or data::ContentError naming the field that is missing or wrong.
// Fields that it does not know are left unread: a newer version may have written them.
RunStatus read_status(const std::filesystem::path& directory);

}  // namespace rubato::runtime
