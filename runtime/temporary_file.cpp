// System calls one by one.
#include "runtime/temporary_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "collectives/host_name.hpp"
#include "runtime/errors.hpp"

namespace rubato::runtime {

namespace {

constexpr const char* temporary_prefix = ".tmp-";

[[noreturn]] void fail(const std::string& action, const std::filesystem::path& file, int error) {
  throw WriteError("cannot " + action + " " + file.string() + ": " +
                   std::generic_category().message(error));
}

template <class Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

std::string temporary_name(const std::string& name) {
  static std::atomic<unsigned> count = 0;
  return temporary_prefix + name + "-" + collectives::host_name() + "-" +
         std::to_string(::getpid()) + "-" + std::to_string(count++);
}

bool is_temporary_name(const std::string& name) { return name.starts_with(temporary_prefix); }

std::filesystem::path directory_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

Directory::Directory(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(uninterrupted([this] {
        return ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      })) {
  if (descriptor_ < 0) fail("open directory", path_, errno);
}

Directory::~Directory() { ::close(descriptor_); }

void Directory::remove(const std::string& name) const {
  if (uninterrupted([&] { return ::unlinkat(descriptor_, name.c_str(), 0); }) != 0 &&
      errno != ENOENT) {
    fail("remove", path_ / name, errno);
  }
}

void Directory::flush() const {
  // EINVAL: a file system that has nothing to flush in a directory.
  if (uninterrupted([this] { return ::fsync(descriptor_); }) != 0 && errno != EINVAL) {
    fail("flush directory", path_, errno);
  }
}

TemporaryFile::TemporaryFile(const Directory& directory, std::string name, std::uint64_t bytes)
    : directory_(directory), name_(std::move(name)), temporary_name_(temporary_name(name_)) {
  constexpr int flags = O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC;
  descriptor_ = uninterrupted(
      [&] { return ::openat(directory_.descriptor(), temporary_name_.c_str(), flags, 0666); });
  if (descriptor_ < 0) fail("create a temporary file for", target(), errno);
  try {
    allocate(bytes);
  } catch (...) {
    ::close(descriptor_);
    ::unlinkat(directory_.descriptor(), temporary_name_.c_str(), 0);
    throw;
  }
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  // What cannot be removed now is removed with the leftovers of dead writers.
  if (!is_placed_) ::unlinkat(directory_.descriptor(), temporary_name_.c_str(), 0);
}

void TemporaryFile::allocate(std::uint64_t bytes) {
  if (bytes == 0) return;
  // Not posix_fallocate, which writes into every block where the file system cannot allocate.
  const int status = uninterrupted([&] {
    return ::fallocate(descriptor_, /*mode=*/0, /*offset=*/0, static_cast<off_t>(bytes));
  });
  const bool is_unsupported = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
  if (status != 0 && !is_unsupported) fail("write", target(), errno);
}

void TemporaryFile::write(std::span<const std::byte> bytes) {
  const auto first = written_bytes_;
  while (!bytes.empty()) {
    const ssize_t count =
        uninterrupted([&] { return ::write(descriptor_, bytes.data(), bytes.size()); });
    if (count < 0) fail("write", target(), errno);
    if (count == 0) fail("write", target(), ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    written_bytes_ += count;
  }
  // Only a hint, so its status is ignored: the disk works while the caller prepares the rest.
  ::sync_file_range(descriptor_, first, written_bytes_ - first, SYNC_FILE_RANGE_WRITE);
}

void TemporaryFile::flush() {
  if (uninterrupted([this] { return ::fsync(descriptor_); }) != 0) {
    fail("flush to disk", target(), errno);
  }
  // Not repeated when interrupted: Linux has closed it then.
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    fail("close", target(), errno);
  }
}

void TemporaryFile::place() {
  if (uninterrupted([this] {
        return ::renameat(directory_.descriptor(), temporary_name_.c_str(), directory_.descriptor(),
                          name_.c_str());
      }) != 0) {
    fail("rename a temporary file to", target(), errno);
  }
  is_placed_ = true;
}

}  // namespace rubato::runtime
