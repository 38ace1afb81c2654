// See checkpoint_files.hpp.
#include "app/checkpoint_files.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "data/errors.hpp"
#include "runtime/checkpoint_store.hpp"
#include "runtime/committed_file.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

// RUN for RUN and for RUN/checkpoints.
fs::path run_directory_of(const fs::path& directory) {
  const fs::path path = directory.has_filename() ? directory : directory.parent_path();
  const fs::path name = runtime::checkpoint_path({}, 0).parent_path();
  if (path.filename() != name || fs::is_directory(path / name)) return path;
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// Among a run's checkpoints `latest` tells people which is the newest, and stands for all of them.
fs::path meant_by(const fs::path& path) {
  const fs::path directory = fs::absolute(path).parent_path();
  const bool is_of_run = directory.filename() == runtime::checkpoint_path({}, 0).parent_path() &&
                         path.filename() == runtime::latest_name && fs::is_regular_file(path);
  if (!is_of_run) return path;
  return path.has_parent_path() ? path.parent_path() : directory;
}

// A run that goes on reads no file that bears another update's name.
void require_update_of_name(const fs::path& file, std::uint64_t update) {
  const std::string name = file.filename().string();
  if (name.rfind("ckpt-", 0) != 0 || runtime::checkpoint_path({}, update).filename() == name)
    return;
  throw data::ContentError(file.string() + ": holds the state after update " +
                           std::to_string(update) + ", expected the one of its name");
}

// What a run would never take for a checkpoint; empty for an ordinary file.
std::string oddity_of(const fs::path& file, mode_t mode) {
  if (S_ISLNK(mode)) {
    std::error_code error;
    return "a symbolic link, to " + printable(fs::read_symlink(file, error).string());
  }
  return S_ISREG(mode)    ? ""
         : S_ISFIFO(mode) ? "a named pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISDIR(mode)  ? "a directory"
                          : "a device";
}

[[noreturn]] void say_there_is_none(const fs::path& directory) {
  throw data::MissingFileError(directory.string() +
                               ": found no checkpoint, expected the directory of a run, with "
                               "checkpoints/ckpt-<update>.h5 in it");
}

}  // namespace

NamedCheckpoint read_newest(const fs::path& named) {
  const fs::path path = meant_by(named);
  if (!fs::is_directory(path)) {
    const std::vector<std::byte> bytes = runtime::read_checked_file(path);
    return {path, bytes.size(), runtime::decode_checkpoint(bytes, path.string()), {}};
  }
  runtime::Found found = runtime::newest_good_checkpoint(run_directory_of(path));
  std::vector<std::string> skipped;
  for (const auto& checkpoint : found.skipped) skipped.push_back(checkpoint.reason);
  if (found.newest) {
    return {found.newest->stored.file, found.newest->bytes.size(),
            std::move(found.newest->checkpoint), std::move(skipped)};
  }
  if (skipped.empty()) say_there_is_none(path);
  throw data::ContentError(path.string() + ": none of its " + std::to_string(skipped.size()) +
                           " checkpoints is good; the newest: " + skipped.front());
}

std::vector<fs::path> checkpoint_files(const fs::path& named) {
  const fs::path path = meant_by(named);
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& stored : runtime::stored_checkpoints(run_directory_of(path))) {
    files.push_back(stored.file);
  }
  if (files.empty()) say_there_is_none(path);
  return files;
}

CheckpointFile inspect(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) {
    throw data::MissingFileError("cannot open " + file.string() + ": " +
                                 std::generic_category().message(errno));
  }
  CheckpointFile found{.file = file,
                       .bytes = static_cast<std::uint64_t>(status.st_size),
                       .written_unix_seconds = status.st_mtime,
                       .has_checksum = fs::exists(runtime::checksum_file_of(file)),
                       .problem = {}};
  if (const auto oddity = oddity_of(file, status.st_mode); !oddity.empty()) {
    found.problem = file.string() + ": is " + oddity + ", expected an ordinary file";
    return found;
  }
  try {
    found.state = runtime::read_checkpoint(file).state;
    require_update_of_name(file, found.state->cursor.update);
  } catch (const data::ContentError& error) {
    found.problem = error.what();
    found.state.reset();
  } catch (const data::MissingFileError& error) {  // not ours to read
    found.problem = error.what();
  }
  return found;
}

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '\n' || (byte >= 0x20 && byte < 0x7f)) {
      result += character;
    } else {
      result += {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
    }
  }
  return result;
}

}  // namespace rubato::app
