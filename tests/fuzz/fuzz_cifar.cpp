// Any bytes as a CIFAR-10 file: either one sample for each record, or a ContentError. As nearly
// every length is wrong, the first byte says how many whole records the rest is repeated to.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "data/cifar_reader.hpp"
#include "data/errors.hpp"

namespace {

void read(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t record_bytes = 3073;
  rubato::data::RawSamples samples{"", {}, std::vector<std::uint8_t>{}, {}};
  try {
    rubato::data::append_cifar10(std::as_bytes(bytes), "input", samples);
    if (samples.labels.size() * record_bytes != bytes.size()) std::abort();
    for (const std::int32_t label : samples.labels) {
      if (label < 0 || label > 9) std::abort();
    }
  } catch (const rubato::data::ContentError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  read({bytes, size});
  if (size < 2) return 0;
  std::vector<std::uint8_t> whole_records(3073 * (1 + bytes[0] % 3));
  for (std::size_t i = 0; i < whole_records.size(); ++i)
    whole_records[i] = bytes[1 + i % (size - 1)];
  read(whole_records);
  return 0;
}
