// Writing a file so that a reader finds all of it or none of it, whatever happens in between.
//
// Protocol: write under a temporary name in the same directory, fsync, write and fsync the checksum
// sidecar, rename the sidecar, rename the file, fsync the directory. A file counts only with a
// sidecar that matches it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rubato::runtime {

// Throws WriteError (naming file, action and cause) and leaves no temporary file behind.
void commit_file(const std::filesystem::path& file, std::span<const std::byte> bytes);
// The same, with FILE.sha256 beside it in the form that `sha256sum -c` reads.
void commit_file_with_checksum(const std::filesystem::path& file, std::span<const std::byte> bytes);

// Reads a file written so. Throws data::MissingFileError, or data::ContentError if the sidecar is
// missing, malformed or does not match.
std::vector<std::byte> read_checked_file(const std::filesystem::path& file);

}  // namespace rubato::runtime
