// See byte_stream.hpp. Several gzip members in a row are one content, as `gzip -d` has it (RFC
// 1952, section 2.2).
#include "data/byte_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "data/errors.hpp"

namespace rubato::data {
namespace {

constexpr std::uint64_t deflate_most_expansion = 1032;

bool starts_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

uInt bounded(std::size_t size) {
  return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

}  // namespace

struct ByteStream::Inflater {
  Inflater() {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }

  z_stream stream{};
  bool is_between_members = false;
};

ByteStream::ByteStream(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {
  if (starts_gzip(bytes_)) inflater_ = std::make_unique<Inflater>();
}

ByteStream::~ByteStream() = default;

std::uint64_t ByteStream::most_bytes() const noexcept {
  return delivered_ + bytes_.size() * (is_compressed() ? deflate_most_expansion : 1);
}

std::size_t ByteStream::read_some(std::span<std::byte> out) {
  std::size_t done = 0;
  if (is_compressed()) {
    while (done < out.size()) {
      const std::size_t got = inflate_some(out.subspan(done));
      if (got == 0) break;
      done += got;
    }
  } else {
    done = std::min(out.size(), bytes_.size());
    if (done > 0) std::memcpy(out.data(), bytes_.data(), done);
    bytes_ = bytes_.subspan(done);
  }
  delivered_ += done;
  return done;
}

// Returns 0 only at the end of the content.
std::size_t ByteStream::inflate_some(std::span<std::byte> out) {
  z_stream& stream = inflater_->stream;
  std::size_t produced = 0;
  while (produced == 0) {
    if (inflater_->is_between_members) {
      if (bytes_.empty()) return 0;
      if (!starts_gzip(bytes_)) refuse_gzip("has bytes after the end of its gzip data");
      inflateReset(&stream);
      inflater_->is_between_members = false;
    }
    const uInt available = bounded(bytes_.size());
    const uInt wanted = bounded(out.size());
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<std::byte*>(bytes_.data()));
    stream.avail_in = available;
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = wanted;
    const int status = inflate(&stream, Z_NO_FLUSH);
    bytes_ = bytes_.subspan(available - stream.avail_in);
    produced = wanted - stream.avail_out;
    if (status == Z_STREAM_END) {
      inflater_->is_between_members = true;
    } else if (status == Z_BUF_ERROR || (status == Z_OK && produced == 0 && bytes_.empty())) {
      refuse_gzip("is cut off: its gzip data has no end");
    } else if (status != Z_OK) {
      refuse_gzip(std::string("has damaged gzip data (") +
                  (stream.msg != nullptr ? stream.msg : "no dictionary") + ")");
    }
  }
  return produced;
}

void ByteStream::refuse_gzip(const std::string& problem) const {
  throw ContentError(name_ + ": the file " + problem + " (after " + std::to_string(delivered_) +
                     " bytes of content); fetch it again");
}

void ByteStream::read_exactly(std::span<std::byte> out, const std::string& what) {
  const std::size_t got = read_some(out);
  if (got == out.size()) return;
  throw ContentError(name_ + ": ends after " + std::to_string(delivered_) + " bytes, in " + what +
                     ", which needs " + std::to_string(out.size() - got) + " more");
}

bool ByteStream::finished() {
  std::byte beyond{};
  return read_some({&beyond, 1}) == 0;
}

}  // namespace rubato::data
