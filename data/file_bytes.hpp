// A whole file in memory, or one sentence why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace rubato::data {

// Reads a regular file of at most `limit` bytes. A directory, a pipe or a device is refused without
// being waited on. Throws MissingFileError (not there, or may not be read) or ContentError (not a
// regular file, too large).
std::vector<std::byte> read_file(const std::filesystem::path& file, std::uint64_t limit);

std::string_view as_text(const std::vector<std::byte>& bytes);

}  // namespace rubato::data
