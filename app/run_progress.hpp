// How far a run has got, seen from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace rubato::app {

// The last update that DIR/metrics.jsonl or DIR/state.json tells of, the later one; 0 where neither
// tells of any. Never throws for what the files hold: a line may be half written.
std::uint64_t last_update(const std::filesystem::path& directory);

// How many updates it will have in all, as DIR/state.json says; nothing where it does not, or there
// is none. Never throws, as above.
std::optional<std::uint64_t> total_updates(const std::filesystem::path& directory);

// Why the run in DIR stopped before its end, as DIR/state.json says it ("stopped by
// --max-seconds"); nothing where it says nothing of the kind. Never throws, as above.
std::optional<std::string> stop_reason(const std::filesystem::path& directory);

// Tells from now on whether the run says that it is finished, or has said since that it has
// stopped: its ranks then have nothing more to do than to leave. (One that was finished before it
// was started leaves at once, without a word.)
std::function<bool()> end_notice(const std::filesystem::path& directory);

}  // namespace rubato::app
