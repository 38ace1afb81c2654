#include "optim/measured_pieces.hpp"

#include <algorithm>

namespace rubato::optim {

std::span<const float> MeasuredPieces::gather(std::span<const float> values,
                                              Elements& memory) const {
  if (is_whole()) return values;
  for (std::size_t i = 0; i < count(); ++i) {
    std::copy_n(values.data() + begins[i], piece_elements, memory.data() + i * piece_elements);
  }
  return std::span(memory).first(size);
}

}  // namespace rubato::optim
