// A small file as text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace rubato::app {

// Nothing where the file cannot be read: there is none, it is a directory, or it belongs to a
// process that ended while it was read.
std::optional<std::string> read_text(const std::filesystem::path& file);

// The same, where a file that cannot be read is as good as an empty one.
std::string file_text(const std::filesystem::path& file);

}  // namespace rubato::app
