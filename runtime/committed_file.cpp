// System calls one by one, each checked. A failed fsync is final: the kernel may have dropped the
// data (so we never retry it).
#include "runtime/committed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "runtime/sha256.hpp"

namespace rubato::runtime {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void fail(const std::string& action, const std::filesystem::path& file) {
  throw WriteError("cannot " + action + " " + file.string() + ": " + reason(errno));
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

void write_all(int descriptor, std::span<const std::byte> bytes,
               const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", file);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

// A file under its temporary name; removed again unless it was put in its place.
class TemporaryFile {
 public:
  TemporaryFile(std::filesystem::path target, std::span<const std::byte> bytes)
      : target_(std::move(target)),
        path_(target_.parent_path() /
              (".tmp-" + target_.filename().string() + "-" + std::to_string(::getpid()))) {
    ::unlink(path_.c_str());
    Descriptor descriptor(
        ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (descriptor.get() < 0) fail("create", path_);
    try {
      write_all(descriptor.get(), bytes, target_);
      if (::fsync(descriptor.get()) != 0) fail("flush to disk", target_);
      if (::close(descriptor.release()) != 0) fail("close", target_);
    } catch (...) {
      ::unlink(path_.c_str());
      throw;
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!is_placed_) ::unlink(path_.c_str());
  }

  void place() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail("rename to", target_);
    is_placed_ = true;
  }

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool is_placed_ = false;
};

void flush_directory(const std::filesystem::path& file) {
  const std::filesystem::path directory = file.has_parent_path() ? file.parent_path() : ".";
  const Descriptor descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) fail("open directory", directory);
  if (::fsync(descriptor.get()) != 0) fail("flush directory", directory);
}

std::filesystem::path sidecar_of(const std::filesystem::path& file) {
  return file.string() + ".sha256";
}

std::vector<std::byte> read_file(const std::filesystem::path& file, std::uint64_t largest_bytes) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (descriptor.get() < 0 || ::fstat(descriptor.get(), &status) != 0) {
    throw data::MissingFileError("cannot open " + file.string() + ": " + reason(errno));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode)) {
    throw data::ContentError(file.string() + ": found a " +
                             (S_ISDIR(status.st_mode) ? "directory" : "device or pipe") +
                             ", expected a file");
  }
  if (size > largest_bytes) {
    throw data::ContentError(file.string() + ": found " + std::to_string(size) +
                             " bytes, expected at most " + std::to_string(largest_bytes));
  }
  std::vector<std::byte> bytes(size);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(descriptor.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw data::ContentError(file.string() + ": cannot be read to its end");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

constexpr std::size_t digest_characters = 64;
constexpr std::uint64_t largest_checkpoint_bytes = std::uint64_t{1} << 40U;

}  // namespace

void commit_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  TemporaryFile temporary(file, bytes);
  temporary.place();
  flush_directory(file);
}

void commit_file_with_checksum(const std::filesystem::path& file,
                               std::span<const std::byte> bytes) {
  const std::string line = sha256(bytes) + "  " + file.filename().string() + "\n";
  TemporaryFile temporary(file, bytes);
  TemporaryFile sidecar(sidecar_of(file), std::as_bytes(std::span<const char>(line)));
  sidecar.place();
  temporary.place();
  flush_directory(file);
}

std::vector<std::byte> read_checked_file(const std::filesystem::path& file) {
  std::vector<std::byte> bytes = read_file(file, largest_checkpoint_bytes);
  const std::filesystem::path sidecar = sidecar_of(file);
  if (!std::filesystem::exists(sidecar)) {
    throw data::ContentError(file.string() + ": its checksum file " + sidecar.filename().string() +
                             " is missing; if you trust the file, make one with: sha256sum " +
                             file.filename().string() + " > " + sidecar.filename().string());
  }
  const std::vector<std::byte> line = read_file(sidecar, 4096);
  const std::string text(reinterpret_cast<const char*>(line.data()), line.size());
  if (text.substr(0, digest_characters) != sha256(bytes)) {
    throw data::ContentError(file.string() + ": does not match its checksum in " +
                             sidecar.filename().string() + "; the file is damaged or incomplete");
  }
  return bytes;
}

}  // namespace rubato::runtime
