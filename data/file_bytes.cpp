// See file_bytes.hpp. The size is taken from the opened file, so what was checked is what is read;
// a file that grows or shrinks meanwhile is noticed.
#include "data/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "data/errors.hpp"
#include "data/huge_pages.hpp"

namespace rubato::data {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class FileDescriptor {
 public:
  explicit FileDescriptor(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) throw MissingFileError(file.string() + ": cannot open: " + reason(errno));
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { ::close(descriptor_); }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

std::uint64_t checked_size(const FileDescriptor& descriptor, const std::filesystem::path& file,
                           std::uint64_t limit) {
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) {
    throw MissingFileError(file.string() + ": cannot read: " + reason(errno));
  }
  if (S_ISDIR(status.st_mode)) {
    throw ContentError(file.string() + ": found a directory, expected a file");
  }
  if (!S_ISREG(status.st_mode)) {
    throw ContentError(file.string() + ": found a pipe or device, expected a regular file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > limit) {
    throw ContentError(file.string() + ": found " + std::to_string(size) +
                       " bytes, expected at most " + std::to_string(limit));
  }
  return size;
}

// Reads up to `size` bytes; fewer only at the end of the file.
std::size_t read_up_to(const FileDescriptor& descriptor, const std::filesystem::path& file,
                       std::byte* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor.get(), out + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw MissingFileError(file.string() + ": cannot read: " + reason(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

std::vector<std::byte> read_file(const std::filesystem::path& file, std::uint64_t limit) {
  const FileDescriptor descriptor(file);
  const std::uint64_t size = checked_size(descriptor, file, limit);
  auto bytes = zeros_in_huge_pages<std::byte>(size);
  std::byte beyond{};
  if (read_up_to(descriptor, file, bytes.data(), size) != size ||
      read_up_to(descriptor, file, &beyond, 1) != 0) {
    throw ContentError(file.string() + ": its size changed while it was read; try again");
  }
  return bytes;
}

std::string_view as_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace rubato::data
