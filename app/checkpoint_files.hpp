// What the checkpoint commands are pointed at: a file, or the directory of a run, which stands for
// its newest good checkpoint (or for all it has), as does the file `latest` in it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint.hpp"

namespace rubato::app {

struct NamedCheckpoint {
  std::filesystem::path file;
  std::uint64_t file_bytes = 0;
  runtime::Checkpoint checkpoint;
  std::vector<std::string> skipped;  // newer checkpoints of the directory, each with its reason
};

// A file itself; of a run's directory, or of its directory of checkpoints, the newest good one.
// Throws data::MissingFileError if there is none, data::ContentError if none is good.
NamedCheckpoint read_newest(const std::filesystem::path& path);

// A file itself; of a directory all its checkpoints, newest first. Throws data::MissingFileError if
// there are none.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& path);

// A file that may be damaged.
struct CheckpointFile {
  std::filesystem::path file;
  std::uint64_t bytes = 0;
  std::int64_t written_unix_seconds = 0;
  bool has_checksum = false;
  std::string problem;                               // a sentence; empty if the file is good
  std::optional<runtime::TrainingState> state = {};  // if it is
};

// Checks a file's checksum and decodes it. Throws data::MissingFileError if it is not there.
CheckpointFile inspect(const std::filesystem::path& file);

// Text from a file for a terminal: control characters and bytes beyond ASCII as \xNN, so that they
// do nothing there. Line breaks stay.
std::string printable(std::string_view text);

}  // namespace rubato::app
