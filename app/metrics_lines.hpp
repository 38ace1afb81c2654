// The lines of a run's metrics.jsonl one after the other, for all that is told of a run from them.
//
// The run may be under way: a last line without its end is being written and counts as absent. A
// run has thousands of updates to an evaluation, so lines are told apart by how they begin, as
// MetricsFile writes them, and only those of interest are parsed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace rubato::app {

class MetricsLines {
 public:
  // A file that cannot be opened has no lines.
  explicit MetricsLines(const std::filesystem::path& file) : in_(file, std::ios::binary) {}

  bool is_open() const { return in_.is_open(); }

  bool next();                                               // false: there is none
  std::uint64_t number() const noexcept { return number_; }  // from 1
  const std::string& text() const noexcept { return text_; }
  bool is_of(std::string_view type) const;  // "update", "eval", "context", ...
  nlohmann::ordered_json object() const;    // null where the line is no object

 private:
  std::ifstream in_;
  std::uint64_t number_ = 0;
  std::string text_;
};

// The field as a number; NaN where it is null, as what is not finite is written, or is none.
double number_in(const nlohmann::ordered_json& line, const char* name);

// 0 where it is no whole number.
std::uint64_t count_in(const nlohmann::ordered_json& line, const char* name);

// Of an update or an evaluation: how long it took; 0 where the line does not say.
double seconds_in(const nlohmann::ordered_json& line);

}  // namespace rubato::app
