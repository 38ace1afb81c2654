// How far one start of a run has got, read from DIR/metrics.jsonl as it grows.
//
// A start that goes on from a checkpoint first cuts the file behind the checkpoint's lines. Until
// then the file ends with updates of an earlier start: they are not taken for this one's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace rubato::app {

class MetricsFollower {
 public:
  // Before the start. It is expected to go on from that update (0: from the beginning).
  MetricsFollower(std::filesystem::path directory, std::uint64_t resumes_from);

  // Reads what is new.
  void look();

  std::uint64_t update() const noexcept { return update_; }  // the last one done
  // Where the start says that it goes on from, once it does.
  std::optional<std::uint64_t> resumed_from() const noexcept { return resumed_from_; }

 private:
  bool has_begun();
  void take(const std::string& line);

  std::filesystem::path file_;
  std::uint64_t offset_ = 0;                                    // of what is still to be read
  std::optional<std::filesystem::file_time_type> former_time_;  // until the start writes
  std::uint64_t update_;
  std::optional<std::uint64_t> resumed_from_;
  std::string partial_line_;
};

}  // namespace rubato::app
