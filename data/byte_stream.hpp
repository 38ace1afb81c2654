// Bytes in memory, read front to back; gzip is inflated on the way.
//
// The reader says how many bytes it wants, and gets no more: a small file that would inflate to a
// huge one costs only what its own header promised, and finished() then says whether anything is
// left over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace rubato::data {

class ByteStream {
 public:
  // `bytes` must outlive the stream; `name` is the file, for messages.
  ByteStream(std::span<const std::byte> bytes, std::string name);
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  ~ByteStream();

  // Fills `out` as far as the content goes and returns how much that was. Throws ContentError on
  // damaged gzip data, or on bytes after its end that are not a further gzip member.
  std::size_t read_some(std::span<std::byte> out);
  // Fills `out` or throws ContentError "NAME: ends after N bytes in WHAT ...".
  void read_exactly(std::span<std::byte> out, const std::string& what);
  bool finished();  // reads one more byte to find out

  bool is_compressed() const noexcept { return inflater_ != nullptr; }
  // No content can be longer than this: for a check before allocating. (DEFLATE expands at most
  // 1032 times.)
  std::uint64_t most_bytes() const noexcept;
  const std::string& name() const noexcept { return name_; }

 private:
  struct Inflater;

  std::size_t inflate_some(std::span<std::byte> out);
  [[noreturn]] void refuse_gzip(const std::string& problem) const;

  std::span<const std::byte> bytes_;
  std::string name_;
  std::uint64_t delivered_ = 0;
  std::unique_ptr<Inflater> inflater_;  // null: the bytes are the content
};

}  // namespace rubato::data
