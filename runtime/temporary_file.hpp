// A file under a temporary name, which takes its place when all of it is on disk.
//
// All names are relative to a directory that is held open, so that nobody can put another one in
// its place meanwhile. Every call is checked, and repeated where a signal interrupted it; a flush
// that failed is final, since the kernel may have dropped the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace rubato::runtime {

class Directory {
 public:
  explicit Directory(std::filesystem::path path);  // throws WriteError
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory();

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  // Both throw WriteError. What is not there counts as removed.
  void remove(const std::string& name) const;
  void flush() const;  // makes renames and removals survive a power failure

 private:
  std::filesystem::path path_;
  int descriptor_;
};

class TemporaryFile {
 public:
  // Creates it with that size, under a temporary name: a full disk is noticed here, before anything
  // is written. Every function throws WriteError, which names DIRECTORY/NAME and the cause.
  TemporaryFile(const Directory& directory, std::string name, std::uint64_t bytes);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();  // removes it, unless it was placed

  void write(std::span<const std::byte> bytes);  // appends; the disk starts at once
  void flush();                                  // to the disk; nothing can be written after it
  void place();  // takes the name; durable with the next Directory::flush()

 private:
  std::filesystem::path target() const { return directory_.path() / name_; }
  void allocate(std::uint64_t bytes);

  const Directory& directory_;
  std::string name_;
  std::string temporary_name_;
  int descriptor_ = -1;
  std::int64_t written_bytes_ = 0;
  bool is_placed_ = false;
};

// The directory that a file is in; "." for a name alone.
std::filesystem::path directory_of(const std::filesystem::path& file);

// .tmp-NAME-<host>-<pid>-<n>: no other process has it, and none is given twice.
std::string temporary_name(const std::string& name);
bool is_temporary_name(const std::string& name);

}  // namespace rubato::runtime
