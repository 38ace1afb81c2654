// Any bytes as a trace: either a trace that keeps its promises, or a ContentError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "data/batch_trace.hpp"
#include "data/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const auto trace = rubato::data::BatchTrace::from_csv_text(text, "input");
    if (trace.rows() == 0) std::abort();
    for (std::uint64_t row = 0; row < trace.rows(); ++row) {
      if (trace.batch_size(row) == 0 || trace.where(row).empty()) std::abort();
    }
  } catch (const rubato::data::ContentError&) {
  }
  return 0;
}
