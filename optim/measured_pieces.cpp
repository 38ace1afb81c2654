#include "optim/measured_pieces.hpp"

namespace rubato::optim {

std::span<const float> MeasuredPieces::gather(std::span<const float> values,
                                              Elements& memory) const {
  if (weight == 1) return values;
  float* end = memory.data();
  for (std::size_t i = 0; i < count; ++i) {
    end = std::copy_n(values.data() + all[i].begin, all[i].size, end);
  }
  return {memory.data(), end};
}

}  // namespace rubato::optim
