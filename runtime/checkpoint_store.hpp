// The checkpoints of a run: RUN/checkpoints/ckpt-<update>.h5, each with its checksum file.
//
// The names in the directory say what there is, newest first; RUN/checkpoints/latest only tells
// people. At most `keep` checkpoints stay besides that of update 0, and one more while it is
// written: an older one is removed when a newer one and its checksum are on disk, never before.
// Checkpoints of later updates than the one committed are left alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint.hpp"

namespace rubato::runtime {

inline constexpr const char* latest_name = "latest";

struct StoredCheckpoint {
  std::uint64_t update;
  std::filesystem::path file;
};

// Newest first, by name only. None where there is no such directory. Throws data::MissingFileError
// if it cannot be read.
std::vector<StoredCheckpoint> stored_checkpoints(const std::filesystem::path& run_directory);

struct SkippedCheckpoint {
  std::filesystem::path file;
  std::string reason;  // a sentence that names the file
};

struct GoodCheckpoint {
  StoredCheckpoint stored;
  std::vector<std::byte> bytes;  // of the file
  Checkpoint checkpoint;
};

struct Found {
  std::optional<GoodCheckpoint> newest;
  std::vector<SkippedCheckpoint> skipped;  // newer ones than that, newest first
};

// The newest checkpoint whose checksum matches and which decodes to the update of its name.
Found newest_good_checkpoint(const std::filesystem::path& run_directory);

// Writes into a run directory, one commit at a time. Whoever holds it is the directory's only
// writer.
class CheckpointStore {
 public:
  CheckpointStore(std::filesystem::path run_directory, std::size_t keep);  // keep >= 1

  // Temporary files, and checksum files whose checkpoint is gone: what a writer that died has left.
  // What cannot be removed stays; it is never taken for a checkpoint.
  void remove_leftovers() const;

  // Puts the checkpoint on disk, then names it in `latest`, then removes those that are too many.
  // Throws WriteError; what was there stays. `before_placing` as in commit_file_with_checksum().
  void commit(std::uint64_t update, std::span<const std::byte> image,
              const std::function<void()>& before_placing = {}) const;

 private:
  void make_directory() const;
  void remove_beyond(std::uint64_t newest) const;

  std::filesystem::path run_directory_;
  std::size_t keep_;
};

}  // namespace rubato::runtime
