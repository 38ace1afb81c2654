// The trace of a run that goes on, against the one that it began with.
#pragma once

#include <filesystem>

namespace rubato::app {

// Throws data::ContentError naming the first row in which two traces (CSV files) differ, or the end
// of the shorter one; and what data::BatchTrace::from_csv() throws of `given`. A `recorded` one
// that cannot be read tells nothing.
void require_same_trace(const std::filesystem::path& given, const std::filesystem::path& recorded);

}  // namespace rubato::app
