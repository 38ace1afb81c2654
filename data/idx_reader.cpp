// See idx_reader.hpp.
#include "data/idx_reader.hpp"

#include <array>

#include "data/byte_stream.hpp"
#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/huge_pages.hpp"

namespace rubato::data {
namespace {

constexpr unsigned unsigned_bytes = 0x08;
constexpr std::uint64_t most_idx_bytes = std::uint64_t{64} << 30U;

std::string hexadecimal(unsigned byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

void check_magic(ByteStream& stream, std::size_t rank) {
  std::array<std::byte, 4> magic{};
  stream.read_exactly(magic, "the IDX header");
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    throw ContentError(stream.name() + ": not an IDX file: found " +
                       hexadecimal(std::to_integer<unsigned>(magic[0])) + " " +
                       hexadecimal(std::to_integer<unsigned>(magic[1])) +
                       " as its first bytes, expected 0x00 0x00");
  }
  const auto type = std::to_integer<unsigned>(magic[2]);
  if (type != unsigned_bytes) {
    throw ContentError(stream.name() + ": found IDX type " + hexadecimal(type) +
                       " at byte 2, expected 0x08 (unsigned bytes)");
  }
  const auto found_rank = std::to_integer<std::size_t>(magic[3]);
  if (found_rank != rank) {
    throw ContentError(stream.name() + ": found " + std::to_string(found_rank) +
                       " IDX dimensions at byte 3, expected " + std::to_string(rank) +
                       (rank == 1 ? " (labels)" : " (images, rows, columns)"));
  }
}

std::size_t read_size(ByteStream& stream) {
  std::array<std::byte, 4> bytes{};
  stream.read_exactly(bytes, "the IDX header");
  std::size_t size = 0;
  for (const std::byte byte : bytes) size = size << 8U | std::to_integer<std::size_t>(byte);
  return size;
}

std::string dimensions(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::size_t checked_product(const ByteStream& stream, const std::vector<std::size_t>& sizes) {
  std::size_t product = 1;
  for (const std::size_t size : sizes) {
    if (size == 0 || __builtin_mul_overflow(product, size, &product)) {
      throw ContentError(
          stream.name() + ": found IDX dimensions " + dimensions(sizes) +
          (size == 0 ? ", expected at least 1 each" : ", whose product exceeds 64 bits"));
    }
  }
  if (product > stream.most_bytes()) {
    throw ContentError(stream.name() + ": its header promises " + dimensions(sizes) + " = " +
                       std::to_string(product) + " bytes, but the file can hold at most " +
                       std::to_string(stream.most_bytes()));
  }
  return product;
}

}  // namespace

IdxArray parse_idx(std::span<const std::byte> bytes, const std::string& name, std::size_t rank) {
  ByteStream stream(bytes, name);
  check_magic(stream, rank);
  IdxArray array;
  for (std::size_t i = 0; i < rank; ++i) array.sizes.push_back(read_size(stream));
  array.values = zeros_in_huge_pages<std::uint8_t>(checked_product(stream, array.sizes));
  stream.read_exactly(std::as_writable_bytes(std::span(array.values)),
                      "the " + dimensions(array.sizes) + " values of its header");
  if (!stream.finished()) {
    throw ContentError(name + ": found more bytes than the " + dimensions(array.sizes) +
                       " that its header promises");
  }
  return array;
}

RawSamples read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  IdxArray pictures = parse_idx(read_file(images, most_idx_bytes), images.string(), 3);
  const IdxArray answers = parse_idx(read_file(labels, most_idx_bytes), labels.string(), 1);
  if (answers.sizes[0] != pictures.sizes[0]) {
    throw ContentError(labels.string() + ": found " + std::to_string(answers.sizes[0]) +
                       " labels, expected " + std::to_string(pictures.sizes[0]) +
                       ", one for each image of " + images.string());
  }
  return {images.string(),
          {pictures.sizes[1], pictures.sizes[2], 1},
          std::move(pictures.values),
          {answers.values.begin(), answers.values.end()}};
}

}  // namespace rubato::data
