// The evaluations that a run has made as it trained, from its metrics.jsonl.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace rubato::app {

struct PastEvaluation {
  std::uint64_t update = 0;
  double epoch = 0;     // with its fraction
  double loss = 0;      // mean; not a number where it was not finite
  double accuracy = 0;  // in [0, 1]
};

// In the order of the file, whose run may be under way: a last line without its end counts as
// absent. Throws data::MissingFileError if it cannot be read, data::ContentError naming the line
// that is no evaluation though it says so.
std::vector<PastEvaluation> evaluation_history(const std::filesystem::path& metrics);

}  // namespace rubato::app
