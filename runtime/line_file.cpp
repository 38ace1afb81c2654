// One write() a line: what the program has said is in the kernel, whatever becomes of the program.
#include "runtime/line_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::runtime {

namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

// A new file's name must reach the disk as well.
void flush_directory_of(const std::filesystem::path& file) try {
  Directory(directory_of(file)).flush();
} catch (const WriteError& failure) {
  throw OutputError(failure.what());
}

}  // namespace

LineFile::LineFile(std::filesystem::path file, std::uint64_t kept_bytes, std::size_t memory_bytes,
                   std::string pieces)
    : path_(std::move(file)),
      descriptor_(
          ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)),
      memory_bytes_(memory_bytes),
      pieces_(std::move(pieces)) {
  if (descriptor_ < 0) {
    throw OutputError("cannot create " + path_.string() + ": " + text_of(errno));
  }
  try {
    if (::ftruncate(descriptor_, static_cast<off_t>(kept_bytes)) != 0 ||
        ::fsync(descriptor_) != 0) {
      throw OutputError("cannot cut " + path_.string() + " to " + std::to_string(kept_bytes) +
                        " bytes: " + text_of(errno));
    }
    flush_directory_of(path_);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

LineFile::~LineFile() { ::close(descriptor_); }

void LineFile::append(std::string line) {
  line += '\n';
  append_bytes(std::move(line));
}

void LineFile::append_bytes(std::string record) {
  const std::scoped_lock lock(mutex_);
  kept_bytes_ += record.size();
  kept_.push_back(std::move(record));
  write_kept();
  drop_oldest();
}

void LineFile::sync() {
  {
    const std::scoped_lock lock(mutex_);
    write_kept();
  }
  if (::fdatasync(descriptor_) == 0) return;  // slow: the lock is free for append() meanwhile
  const std::scoped_lock lock(mutex_);
  error_ = errno;
  note_failure("flush", "its last " + pieces_ + " may be lost if the host fails");
}

std::optional<std::string> LineFile::take_failure() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

void LineFile::finish() {
  {
    const std::scoped_lock lock(mutex_);
    error_ = 0;
  }
  sync();
  const std::scoped_lock lock(mutex_);
  const std::uint64_t missing = kept_.size() + dropped_lines_;
  if (missing == 0 && error_ == 0) return;
  const std::string cause = error_ != 0 ? text_of(error_) : "the disk was full for too long";
  throw WriteError("cannot write " + path_.string() + ": " + cause + "; " +
                   std::to_string(missing) + " " + pieces_ + " are missing in it");
}

void LineFile::write_kept() {
  while (!kept_.empty()) {
    const std::string& line = kept_.front();
    const ssize_t count =
        ::write(descriptor_, line.data() + written_bytes_, line.size() - written_bytes_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      error_ = errno;
      note_failure("write", "its " + pieces_ + " are kept in memory until there is room");
      return;
    }
    written_bytes_ += static_cast<std::size_t>(count);
    if (written_bytes_ < line.size()) continue;
    kept_bytes_ -= line.size();
    kept_.pop_front();
    written_bytes_ = 0;
  }
  is_told_ = false;
}

// The first line stays if a part of it is in the file: its rest must follow.
void LineFile::drop_oldest() {
  while (kept_bytes_ > memory_bytes_ && kept_.size() > 1) {
    const auto oldest = written_bytes_ > 0 ? kept_.begin() + 1 : kept_.begin();
    kept_bytes_ -= oldest->size();
    kept_.erase(oldest);
    ++dropped_lines_;
  }
}

void LineFile::note_failure(const std::string& action, const std::string& consequence) {
  if (is_told_) return;
  is_told_ = true;
  failure_ =
      "cannot " + action + " " + path_.string() + ": " + text_of(error_) + "; " + consequence;
}

}  // namespace rubato::runtime
