// rubato checkpoint list: the checkpoints of a run, newest first, and whether each can be trusted.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>

#include "app/checkpoint_files.hpp"

namespace rubato::app {

// "good", "damaged: WHY" or "no checksum".
std::string condition_of(const CheckpointFile& file);

// "12.3 MB"; "2026-01-31 09:05:00Z"; the largest whole unit of a duration: "41 s", "3 min", "7 h",
// "12 d".
std::string size_text(std::uint64_t bytes);
std::string time_text(std::int64_t unix_seconds);
std::string age_text(std::int64_t seconds);

void list_as_table(std::ostream& out, std::span<const CheckpointFile> files,
                   std::int64_t now_unix_seconds);
void list_as_json(std::ostream& out, std::span<const CheckpointFile> files);

}  // namespace rubato::app
