// A record as TensorBoard's event files hold it, which is how TensorFlow frames records of any file
// (TFRecord). All numbers are little-endian:
//
//   8 bytes   the length of the content
//   4 bytes   the masked checksum of these 8 bytes
//             the content
//   4 bytes   the masked checksum of the content
//
// The checksum is CRC-32C (RFC 3720, appendix B.4). It is masked, rotated and shifted by a
// constant, because a checksum of text that holds its own checksum says little.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rubato::runtime {

std::uint32_t crc32c(std::string_view bytes);
std::uint32_t masked(std::uint32_t checksum);

std::string framed(std::string_view content);  // 16 bytes longer

}  // namespace rubato::runtime
