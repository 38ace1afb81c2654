// Writing a file so that a reader finds all of it or none of it, whatever happens in between.
//
// Protocol: write under a temporary name in the same directory, fsync; write and fsync the checksum
// file FILE.sha256; rename the checksum file, rename the file, fsync the directory. A file counts
// only with a checksum file that matches it.
//
// Replacing a good file, the two renames cannot be one: between them the old file stands beside the
// new checksum. Therefore the new checksum file also names the digest that it replaces, in a line
// that `sha256sum -c` takes for a comment, and is on disk before the file is renamed: at every
// moment the file in place, old or new, matches its checksum file.
//
//   <64 hexadecimal digits>  ckpt-12.h5
//   # replaces <64 hexadecimal digits>
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rubato::runtime {

// Throws WriteError (naming file, action and cause) and leaves no temporary file behind.
void commit_file(const std::filesystem::path& file, std::span<const std::byte> bytes);

// The same, with FILE.sha256 beside it. `before_placing` is called when the file is on disk and has
// not taken its name yet; what it throws ends the commit.
void commit_file_with_checksum(const std::filesystem::path& file, std::span<const std::byte> bytes,
                               const std::function<void()>& before_placing = {});

// Reads a file written so. Throws data::MissingFileError, or data::ContentError if the checksum
// file is missing, malformed or does not match.
std::vector<std::byte> read_checked_file(const std::filesystem::path& file);

// What read_checked_file() requires of a file's bytes and of its checksum file's text; throws
// data::ContentError.
void require_checksum(const std::filesystem::path& file, std::span<const std::byte> bytes,
                      const std::string& checksum_text);

std::filesystem::path checksum_file_of(const std::filesystem::path& file);  // FILE.sha256

}  // namespace rubato::runtime
