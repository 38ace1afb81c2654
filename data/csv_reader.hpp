// Labelled samples from a CSV file: one row a sample, numbers only, the label in one column; plain
// or gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "data/raw_samples.hpp"

namespace rubato::data {

struct CsvOptions {
  std::optional<SampleShape>
      shape;  // features are in [channel][height][width] order; default 1 x 1 x features
  std::optional<std::string>
      label_column;  // a name from the header, or a 0-based number; default the last column
};

// The first line is a header if one of its fields is no number. Throws ContentError naming line and
// column; std::invalid_argument for a label column that the file has not, or a shape that its
// features do not fill.
RawSamples parse_csv(std::span<const std::byte> bytes, const std::string& name,
                     const CsvOptions& options);
RawSamples read_csv(const std::filesystem::path& file, const CsvOptions& options);

}  // namespace rubato::data
