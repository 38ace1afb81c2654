// Labelled samples from an HDF5 file: /train/images and /train/labels, and if it has them
// /test/images and /test/labels.
//
// Images are [N,F], [N,H,W] or [N,C,H,W], unsigned bytes or IEEE floats; labels are [N] integers.
// libhdf5 is not made for hostile files, so it is shown little: the bytes are read by us, and of
// each dataset the link, layout, filters, type and size are checked before a value is read. Links
// out of the file, external and virtual storage, and foreign filters are refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "data/raw_samples.hpp"

namespace rubato::data {

struct Hdf5Samples {
  RawSamples train;
  std::optional<RawSamples> test;
};

// Throw ContentError.
Hdf5Samples parse_hdf5(std::span<const std::byte> bytes, const std::string& name);
Hdf5Samples read_hdf5(const std::filesystem::path& file);

}  // namespace rubato::data
