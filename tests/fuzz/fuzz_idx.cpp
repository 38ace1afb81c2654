// Any bytes as IDX images and as IDX labels, plain or gzip: either exactly what the header
// promises, or a ContentError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "data/errors.hpp"
#include "data/idx_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  for (const std::size_t rank : {std::size_t{1}, std::size_t{3}}) {
    try {
      const auto array =
          rubato::data::parse_idx(std::as_bytes(std::span(bytes, size)), "input", rank);
      std::size_t product = 1;
      for (const std::size_t length : array.sizes) product *= length;
      if (array.sizes.size() != rank || array.values.size() != product) std::abort();
      if (product > 1032 * size) std::abort();
    } catch (const rubato::data::ContentError&) {
    }
  }
  return 0;
}
