// The protocol over TemporaryFile, and the way back.
#include "runtime/committed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <future>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "data/errors.hpp"
#include "runtime/sha256.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::runtime {

namespace {

constexpr std::uint64_t largest_file_bytes = std::uint64_t{1} << 40U;
constexpr std::uint64_t largest_checksum_file_bytes = 4096;
constexpr std::size_t digest_characters = 64;

// An open file, closed at the end of its scope.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& file)
      : descriptor_(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ >= 0) return;
    throw data::MissingFileError("cannot open " + file.string() + ": " +
                                 std::generic_category().message(errno));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::uint64_t size_of(const OpenFile& open, const std::filesystem::path& file,
                      std::uint64_t largest_bytes) {
  struct stat status {};
  if (::fstat(open.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw data::ContentError(file.string() + ": found a " +
                             (S_ISDIR(status.st_mode) ? "directory" : "device or pipe") +
                             ", expected a file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > largest_bytes) {
    throw data::ContentError(file.string() + ": found " + std::to_string(size) +
                             " bytes, expected at most " + std::to_string(largest_bytes));
  }
  return size;
}

std::vector<std::byte> read_file(const std::filesystem::path& file, std::uint64_t largest_bytes) {
  const OpenFile open(file);
  std::vector<std::byte> bytes(size_of(open, file, largest_bytes));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(open.descriptor(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw data::ContentError(file.string() + ": cannot be read to its end");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

std::string read_checksum_file(const std::filesystem::path& file) {
  const std::filesystem::path checksum_file = checksum_file_of(file);
  std::error_code ignored;
  if (!std::filesystem::exists(checksum_file, ignored)) {
    throw data::ContentError(file.string() + ": its checksum file " +
                             checksum_file.filename().string() +
                             " is missing; if you trust the file, make one with: sha256sum " +
                             file.filename().string() + " > " + checksum_file.filename().string());
  }
  const std::vector<std::byte> bytes = read_file(checksum_file, largest_checksum_file_bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr const char* replaces = "# replaces ";

std::string text_of(const std::string& digest, const std::string& name,
                    const std::optional<std::string>& replaced) {
  return digest + "  " + name + "\n" + (replaced ? replaces + *replaced + "\n" : "");
}

struct Checksums {
  std::string digest;
  std::optional<std::string> replaced;
};

bool is_digest(const std::string& text) {
  return text.size() == digest_characters &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Exactly what text_of() makes, so that no changed byte goes unnoticed.
std::optional<Checksums> parse_checksums(const std::string& text, const std::string& name) {
  Checksums found{text.substr(0, digest_characters), std::nullopt};
  if (!is_digest(found.digest)) return std::nullopt;
  const std::size_t second_line = text_of(found.digest, name, std::nullopt).size();
  if (text.size() > second_line) {
    const std::size_t start = second_line + std::string_view(replaces).size();
    found.replaced = text.substr(std::min(start, text.size()), digest_characters);
    if (!is_digest(*found.replaced)) return std::nullopt;
  }
  if (text != text_of(found.digest, name, found.replaced)) return std::nullopt;
  return found;
}

// The digest of the file in place, if there is one that counts.
std::optional<std::string> digest_in_place(const std::filesystem::path& file) {
  try {
    return sha256(read_checked_file(file));
  } catch (const data::ContentError&) {
    return std::nullopt;
  } catch (const data::MissingFileError&) {
    return std::nullopt;
  }
}

void write_checksum_file(TemporaryFile& temporary, const std::string& text) {
  temporary.write(std::as_bytes(std::span(text)));
  temporary.flush();
}

// The digest, computed on another thread if there is enough to do for one: hashing takes about as
// long as writing, and need not be waited for.
std::future<std::string> start_hashing(std::span<const std::byte> bytes) {
  constexpr std::size_t enough_for_a_thread = std::size_t{1} << 20U;
  const auto policy = bytes.size() < enough_for_a_thread
                          ? std::launch::deferred
                          : std::launch::async | std::launch::deferred;  // if there is no thread
  return std::async(policy, [bytes] { return sha256(bytes); });
}

// Block by block, so that the disk takes one while the next is copied to the kernel.
void write_blocks(TemporaryFile& temporary, std::span<const std::byte> bytes) {
  constexpr std::size_t block_bytes = std::size_t{4} << 20U;
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min(block_bytes, bytes.size()));
    temporary.write(block);
    bytes = bytes.subspan(block.size());
  }
  temporary.flush();
}

}  // namespace

std::filesystem::path checksum_file_of(const std::filesystem::path& file) {
  return file.string() + ".sha256";
}

void commit_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  const Directory directory(directory_of(file));
  TemporaryFile temporary(directory, file.filename().string(), bytes.size());
  temporary.write(bytes);
  temporary.flush();
  temporary.place();
  directory.flush();
}

void commit_file_with_checksum(const std::filesystem::path& file, std::span<const std::byte> bytes,
                               const std::function<void()>& before_placing) {
  const std::string name = file.filename().string();
  const Directory directory(directory_of(file));
  TemporaryFile temporary(directory, name, bytes.size());
  std::future<std::string> digest = start_hashing(bytes);
  write_blocks(temporary, bytes);
  const std::optional<std::string> replaced = digest_in_place(file);
  const std::string checksum_text = text_of(digest.get(), name, replaced);
  TemporaryFile checksum_file(directory, checksum_file_of(name).string(), checksum_text.size());
  write_checksum_file(checksum_file, checksum_text);
  if (before_placing) before_placing();
  checksum_file.place();
  if (replaced) directory.flush();
  temporary.place();
  directory.flush();
}

std::vector<std::byte> read_checked_file(const std::filesystem::path& file) {
  const OpenFile must_exist(file);
  const std::string checksum_text = read_checksum_file(file);
  std::vector<std::byte> bytes = read_file(file, largest_file_bytes);
  require_checksum(file, bytes, checksum_text);
  return bytes;
}

void require_checksum(const std::filesystem::path& file, std::span<const std::byte> bytes,
                      const std::string& checksum_text) {
  const std::string name = file.filename().string();
  const std::optional<Checksums> checksums = parse_checksums(checksum_text, name);
  if (!checksums) {
    throw data::ContentError(file.string() + ": its checksum file " + name +
                             ".sha256 is damaged: expected what sha256sum " + name + " prints");
  }
  const std::string digest = sha256(bytes);
  if (digest != checksums->digest && digest != checksums->replaced) {
    throw data::ContentError(file.string() + ": does not match its checksum in " + name +
                             ".sha256; the file is damaged or incomplete");
  }
}

}  // namespace rubato::runtime
