// The order of a checkpoint's life: written, named, and, when newer ones are on disk, removed.
#include "runtime/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "data/errors.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::runtime {

namespace {

std::filesystem::path checkpoints_of(const std::filesystem::path& run_directory) {
  return checkpoint_path(run_directory, 0).parent_path();
}

// The update in a name, if checkpoint_path() makes that name.
std::optional<std::uint64_t> update_of(const std::string& name) {
  constexpr std::size_t prefix_length = std::string_view("ckpt-").size();
  if (name.size() < prefix_length) return std::nullopt;
  std::uint64_t update = 0;
  std::from_chars(name.data() + prefix_length, name.data() + name.size(), update);
  if (checkpoint_path({}, update).filename() != name) return std::nullopt;
  return update;
}

std::vector<std::string> names_in(const std::filesystem::path& directory, std::error_code& error) {
  std::vector<std::string> names;
  const std::filesystem::directory_iterator end;
  for (std::filesystem::directory_iterator entry(directory, error); !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

std::vector<StoredCheckpoint> stored_in(const std::filesystem::path& directory,
                                        std::error_code& error) {
  std::vector<StoredCheckpoint> stored;
  for (const std::string& name : names_in(directory, error)) {
    if (const auto update = update_of(name)) stored.push_back({*update, directory / name});
  }
  std::sort(stored.begin(), stored.end(),
            [](const auto& a, const auto& b) { return a.update > b.update; });
  return stored;
}

GoodCheckpoint read_stored(const StoredCheckpoint& stored) {
  GoodCheckpoint good{stored, read_checked_file(stored.file), {}};
  good.checkpoint = decode_checkpoint(good.bytes, stored.file.string());
  const std::uint64_t update = good.checkpoint.state.cursor.update;
  if (update != stored.update) {
    throw data::ContentError(stored.file.string() + ": holds the state after update " +
                             std::to_string(update) + ", expected the one of its name");
  }
  return good;
}

void remove_checkpoint(const Directory& directory, const std::filesystem::path& file) {
  // In this order: a checksum file without its checkpoint is a leftover, but a checkpoint without
  // its checksum file would look like one that somebody damaged.
  directory.remove(file.filename().string());
  directory.remove(checksum_file_of(file).filename().string());
}

bool is_leftover(const std::string& name, const std::vector<std::string>& names) {
  if (is_temporary_name(name)) return true;
  const std::filesystem::path path(name);
  const std::string checkpoint = path.stem().string();
  return path.extension() == checksum_file_of({}) && update_of(checkpoint) &&
         std::find(names.begin(), names.end(), checkpoint) == names.end();
}

}  // namespace

std::vector<StoredCheckpoint> stored_checkpoints(const std::filesystem::path& run_directory) {
  const std::filesystem::path directory = checkpoints_of(run_directory);
  std::error_code error;
  std::vector<StoredCheckpoint> stored = stored_in(directory, error);
  if (error && error != std::errc::no_such_file_or_directory) {
    throw data::MissingFileError("cannot read directory " + directory.string() + ": " +
                                 error.message());
  }
  return stored;
}

Found newest_good_checkpoint(const std::filesystem::path& run_directory) {
  Found found;
  for (const StoredCheckpoint& stored : stored_checkpoints(run_directory)) {
    try {
      found.newest = read_stored(stored);
      break;
    } catch (const data::ContentError& error) {
      found.skipped.push_back({stored.file, error.what()});
    } catch (const data::MissingFileError& error) {
      found.skipped.push_back({stored.file, error.what()});
    }
  }
  return found;
}

CheckpointStore::CheckpointStore(std::filesystem::path run_directory, std::size_t keep)
    : run_directory_(std::move(run_directory)), keep_(keep) {
  if (keep_ == 0) throw std::invalid_argument("checkpoints to keep: expected 1 or more, got 0");
}

void CheckpointStore::make_directory() const {
  std::error_code error;
  if (!std::filesystem::create_directories(checkpoints_of(run_directory_), error)) {
    if (!error) return;
    throw WriteError("cannot create directory " + checkpoints_of(run_directory_).string() + ": " +
                     error.message());
  }
  Directory(run_directory_).flush();
}

void CheckpointStore::remove_leftovers() const {
  const std::filesystem::path path = checkpoints_of(run_directory_);
  std::error_code unreadable;
  const std::vector<std::string> names = names_in(path, unreadable);
  for (const std::string& name : names) {
    std::error_code stays;
    if (is_leftover(name, names)) std::filesystem::remove(path / name, stays);
  }
}

void CheckpointStore::commit(std::uint64_t update, std::span<const std::byte> image,
                             const std::function<void()>& before_placing) const {
  make_directory();
  remove_leftovers();
  const std::filesystem::path file = checkpoint_path(run_directory_, update);
  commit_file_with_checksum(file, image, before_placing);
  const std::string line = file.filename().string() + "\n";
  commit_file(file.parent_path() / latest_name, std::as_bytes(std::span(line)));
  remove_beyond(update);
}

void CheckpointStore::remove_beyond(std::uint64_t newest) const {
  const Directory directory(checkpoints_of(run_directory_));
  std::error_code error;
  const std::vector<StoredCheckpoint> stored = stored_in(directory.path(), error);
  if (error) {
    throw WriteError("cannot read directory " + directory.path().string() + ": " + error.message());
  }
  std::size_t kept = 0;
  for (const StoredCheckpoint& one : stored) {
    if (one.update > newest || one.update == 0) continue;
    if (++kept > keep_) remove_checkpoint(directory, one.file);
  }
}

}  // namespace rubato::runtime
