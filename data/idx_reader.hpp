// IDX files, the format of MNIST: a big-endian header (0, 0, type, rank, sizes) and unsigned bytes;
// plain or gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/raw_samples.hpp"

namespace rubato::data {

struct IdxArray {
  std::vector<std::size_t> sizes;
  std::vector<std::uint8_t> values;
};

// Parses the content of a file of unsigned bytes with `rank` sizes. Nothing is allocated before the
// header fits the number of bytes there are. Throws ContentError.
IdxArray parse_idx(std::span<const std::byte> bytes, const std::string& name, std::size_t rank);

// Images (rank 3) and their labels (rank 1).
RawSamples read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace rubato::data
