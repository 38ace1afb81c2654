// Whether two runs were the same: what they ended as, and what each of their updates was.
//
// Compared are the training states of their last checkpoints (by digest), which samples they used
// (by audit, of every epoch and of all), and the lines of their metrics.jsonl on updates, epochs
// and evaluations, in order and with every field except seconds: each update stands once in both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "runtime/sample_audit.hpp"

namespace rubato::app {

struct RunEvidence {
  std::uint64_t updates = 0;  // of the checkpoint
  std::string digest;         // of its training state
  runtime::SampleAudit audit;
};

struct RunComparison {
  RunEvidence straight;
  RunEvidence killed;
  std::uint64_t update_lines = 0;  // compared, until the first difference
  std::uint64_t epoch_lines = 0;
  std::uint64_t evaluation_lines = 0;
  std::string first_difference{};  // a clause; empty: equal
};

// Of two run directories. Throws data::MissingFileError or data::ContentError where one has no
// metrics or no good checkpoint.
RunComparison compare_runs(const std::filesystem::path& straight,
                           const std::filesystem::path& killed);

}  // namespace rubato::app
