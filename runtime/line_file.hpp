// A text file to which whole lines are appended, through disks that are full for a while.
//
// A line that cannot be written is kept in memory and tried again with the next one, in order, and
// after a short write its rest goes first: the file never holds a torn line that is followed by
// another. Beyond 64 MiB the oldest kept lines are dropped and counted. An outage is told once, and
// ends nothing. Records of a file that is no text are treated alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace rubato::runtime {

class LineFile {
 public:
  // Creates the file, or cuts it to its first `kept_bytes` bytes. `pieces`: what messages call that
  // which is appended. Throws OutputError.
  LineFile(std::filesystem::path file, std::uint64_t kept_bytes,
           std::size_t memory_bytes = std::size_t{64} << 20U, std::string pieces = "lines");
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  void append(std::string line);          // without its newline
  void append_bytes(std::string record);  // as it is
  void sync();  // what was appended is on the disk, or the failure is noted
  // Why writing fails, as a sentence: once per outage.
  std::optional<std::string> take_failure();
  // The last attempt, and sync(). Throws WriteError if lines are missing in the file.
  void finish();

 private:
  void write_kept();  // these need the mutex
  void drop_oldest();
  void note_failure(const std::string& action, const std::string& consequence);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::size_t memory_bytes_;
  std::string pieces_;
  std::mutex mutex_;  // sync() may come from another thread
  std::deque<std::string> kept_;
  std::size_t kept_bytes_ = 0;     // of kept_
  std::size_t written_bytes_ = 0;  // of the first kept line
  std::uint64_t dropped_lines_ = 0;
  bool is_told_ = false;
  int error_ = 0;  // the last one
  std::optional<std::string> failure_;
};

}  // namespace rubato::runtime
