// What stays of a run's metrics when it goes on from a checkpoint: each update stands once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/trace_plan.hpp"

namespace rubato::runtime {

struct MetricsHistory {
  std::uint64_t bytes = 0;  // from the beginning of the file to the end of its last kept line
  std::string problem;      // why nothing can be kept: a clause; empty: everything is there
};

// The file's lines up to the cursor of a checkpoint: the line of its update and what directly
// follows from it (evaluation, end of an epoch, decision, checkpoint, warning). Update 0: the
// context alone. A later start from the same update counts if it completed the epoch before the
// cursor's, as one on other ranks may: its checkpoint replaced the first.
//
// The file must begin with a context and hold each update since (or since the one that the context
// resumed from) exactly once. Reads the whole file up to there, at the disk's speed: lines are told
// apart by how they begin, which is how MetricsFile writes them.
MetricsHistory metrics_history(const std::filesystem::path& file, const data::Cursor& cursor);

}  // namespace rubato::runtime
