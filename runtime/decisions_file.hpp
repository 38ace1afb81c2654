// DIR/decisions.csv as it grows (batch_decisions.hpp). A full disk ends nothing (line_file.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "runtime/line_file.hpp"

namespace rubato::runtime {

class DecisionsFile {
 public:
  // The file then holds `text`: what it shares with it from the beginning is kept, the rest is
  // replaced. Throws OutputError.
  DecisionsFile(const std::filesystem::path& file, const std::string& text);

  void append(const std::string& line) { lines_.append(line); }  // without its newline
  void sync() { lines_.sync(); }
  std::optional<std::string> take_failure() { return lines_.take_failure(); }
  void finish() { lines_.finish(); }

 private:
  std::uint64_t kept_bytes_;
  LineFile lines_;
};

}  // namespace rubato::runtime
