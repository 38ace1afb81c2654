// Any bytes as a CSV data set, plain or gzip: either finite features and labels in range, or a
// ContentError.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "data/csv_reader.hpp"
#include "data/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const auto samples =
        rubato::data::parse_csv(std::as_bytes(std::span(bytes, size)), "input", {});
    const auto& values = std::get<std::vector<float>>(samples.values);
    if (values.size() != samples.labels.size() * samples.shape.size()) std::abort();
    for (const float value : values) {
      if (!std::isfinite(value)) std::abort();
    }
    for (const std::int32_t label : samples.labels) {
      if (label < 0 || label > rubato::data::most_label) std::abort();
    }
  } catch (const rubato::data::ContentError&) {
  }
  return 0;
}
