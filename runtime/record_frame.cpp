// See record_frame.hpp.
#include "runtime/record_frame.hpp"

#include <bit>
#include <boost/crc.hpp>
#include <concepts>

namespace rubato::runtime {

namespace {

// Castagnoli's polynomial, bits reflected, all ones before and after.
using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

template <std::unsigned_integral T>
void append(std::string& text, T number) {
  for (unsigned shift = 0; shift < 8 * sizeof(T); shift += 8) {
    text += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  Crc32c sum;
  sum.process_bytes(bytes.data(), bytes.size());
  return sum.checksum();
}

std::uint32_t masked(std::uint32_t checksum) { return std::rotr(checksum, 15) + 0xA282EAD8U; }

std::string framed(std::string_view content) {
  std::string record;
  record.reserve(content.size() + 16);
  append(record, std::uint64_t{content.size()});
  append(record, masked(crc32c(record)));
  record += content;
  append(record, masked(crc32c(content)));
  return record;
}

}  // namespace rubato::runtime
