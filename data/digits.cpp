// See digits.hpp. The gzip file is part of the library: embed_file.cmake turns it into an array
// when the library is built.
#include "data/digits.hpp"

#include <span>

#include "data/csv_reader.hpp"

namespace rubato::data {

extern const unsigned char digits_csv_gz[];
extern const std::size_t digits_csv_gz_size;

Split read_digits() {
  constexpr std::size_t test_every = 5;
  const auto file = std::as_bytes(std::span(digits_csv_gz, digits_csv_gz_size));
  RawSamples samples = parse_csv(file, "digits", {SampleShape{8, 8, 1}, std::nullopt});
  const auto& pixels = std::get<std::vector<float>>(samples.values);
  samples.values = std::vector<std::uint8_t>(pixels.begin(), pixels.end());
  return split_every(samples, test_every);
}

Standardisation digits_standardisation() { return {1.0F / 16.0F, {0.30580668F}, {0.37644229F}}; }

}  // namespace rubato::data
