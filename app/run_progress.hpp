// How far a run has got, seen from outside.
#pragma once

#include <cstdint>
#include <filesystem>

namespace rubato::app {

// The last update that DIR/metrics.jsonl or DIR/state.json tells of, the later one; 0 where neither
// tells of any. Never throws for what the files hold: a line may be half written.
std::uint64_t last_update(const std::filesystem::path& directory);

}  // namespace rubato::app
