// Only rank 0 touches the directory: other hosts need not see it.
#include "runtime/run_directory.hpp"

#include <array>
#include <span>
#include <utility>

#include "data/errors.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "runtime/metrics_history.hpp"
#include "runtime/state_file.hpp"
#include "runtime/temporary_file.hpp"
#include "runtime/tensorboard_file.hpp"

namespace rubato::runtime {

namespace {

namespace fs = std::filesystem;

bool holds_a_run(const fs::path& directory) {
  return fs::exists(directory / "metrics.jsonl") || fs::exists(directory / "checkpoints");
}

void commit_text(const fs::path& file, const std::string& text) {
  commit_file(file, std::as_bytes(std::span<const char>(text)));
}

// The newest good checkpoint, or nothing where there is none at all.
std::optional<GoodCheckpoint> find_newest(const fs::path& directory,
                                          std::vector<std::string>& skipped) {
  Found found = newest_good_checkpoint(directory);
  for (const SkippedCheckpoint& one : found.skipped) skipped.push_back(one.reason);
  if (!found.newest && !skipped.empty()) {
    throw data::ContentError(directory.string() + ": none of its " +
                             std::to_string(skipped.size()) +
                             " checkpoints can be used, the newest because: " + skipped.front() +
                             "; --overwrite begins anew");
  }
  return std::move(found.newest);
}

// A run that was killed before it said so goes on, and says so then.
bool says_finished(const fs::path& directory, std::uint64_t update) {
  try {
    const RunStatus status = read_status(directory);
    return status.state == RunState::finished && status.update == update;
  } catch (const std::exception&) {
    return false;
  }
}

// From rank 0 to all. Bytes travel, so that each rank reads what was verified.
void broadcast(const collectives::Communicator& world, std::vector<std::byte>& bytes) {
  const std::string size = world.broadcast(std::to_string(bytes.size()), 0);
  bytes.resize(std::stoull(size));
  world.broadcast(bytes, 0);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, OutputMode mode) : path_(std::move(path)), mode_(mode) {
  try {
    was_made_ = fs::create_directories(path_);
    lock_.emplace(path_);
    remove_leftovers();
    if (mode == OutputMode::fresh && holds_a_run(path_)) {
      throw OutputError(path_.string() +
                        " holds a run already: --resume goes on with it, --overwrite replaces it");
    }
  } catch (const fs::filesystem_error& error) {
    throw OutputError("cannot write in " + path_.string() + ": " + error.code().message());
  }
}

RunDirectory::~RunDirectory() {
  if (!was_made_ || has_begun_) return;
  std::error_code ignored;
  fs::remove(path_ / "run.lock", ignored);
  fs::remove(path_, ignored);
}

// Of a writer that was killed. The lock is ours, so nobody else writes here.
void RunDirectory::remove_leftovers() const {
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (is_temporary_name(entry.path().filename().string())) fs::remove_all(entry.path());
  }
}

void RunDirectory::begin_anew() {
  has_begun_ = true;
  try {
    // Away all at once: killed half-way, what is left must not be a run to go on with.
    if (fs::exists(path_ / "checkpoints")) {
      const fs::path doomed = path_ / temporary_name("checkpoints");
      fs::rename(path_ / "checkpoints", doomed);
      fs::remove_all(doomed);
    }
    keep_updates_without_checkpoints();
    for (const char* name : {"metrics.jsonl", "trace.csv", "decisions.csv", "state.json"})
      fs::remove(path_ / name);
    remove_event_files(path_ / "tensorboard");
    fs::create_directory(path_ / "checkpoints");
  } catch (const fs::filesystem_error& error) {
    throw OutputError("cannot write in " + path_.string() + ": " + error.code().message());
  }
}

// To go on was the wish, and somebody may still want to read what there was.
void RunDirectory::keep_updates_without_checkpoints() const {
  const fs::path metrics = path_ / "metrics.jsonl";
  if (mode_ != OutputMode::resume || !metrics_history(metrics, {.update = 1}).problem.empty())
    return;
  int number = 1;
  while (fs::exists(metrics.string() + "." + std::to_string(number))) ++number;
  fs::rename(metrics, metrics.string() + "." + std::to_string(number));
}

void RunDirectory::record(const std::string& configuration) {
  has_begun_ = true;
  if (!configuration.empty()) commit_text(path_ / "config.ini", configuration);
}

void RunDirectory::record(const std::string& configuration, const data::BatchTrace& trace) {
  record(configuration);
  if (!trace.is_constant()) commit_text(path_ / "trace.csv", trace.as_csv());
}

OpenedRun open_run(const collectives::Communicator& world, const fs::path& path, OutputMode mode,
                   const collectives::Explain& explain) {
  OpenedRun opened;
  std::vector<std::string> skipped;
  std::string file;
  std::vector<std::byte> bytes;
  bool is_finished = false;
  collectives::agree(
      world,
      [&] {
        if (world.rank() != 0) return;
        opened.directory = std::make_unique<RunDirectory>(path, mode);
        if (mode != OutputMode::resume) return;
        if (auto newest = find_newest(path, skipped)) {
          file = newest->stored.file.string();
          bytes = std::move(newest->bytes);
          is_finished = says_finished(path, newest->stored.update);
        }
      },
      explain);
  file = world.broadcast(file, 0);
  const bool was_finished = world.broadcast(is_finished ? "finished" : "", 0) == "finished";
  if (file.empty()) return opened;
  broadcast(world, bytes);
  opened.resume =
      ResumePoint{decode_checkpoint(bytes, file), file, std::move(skipped), was_finished};
  return opened;
}

}  // namespace rubato::runtime
