#include "optim/measured_pieces.hpp"

#include <algorithm>

namespace rubato::optim {

void MeasuredPieces::gather(std::span<const float> values, float* to) const {
  if (is_whole()) {
    std::ranges::copy(values.first(size), to);
    return;
  }
  for (std::size_t i = 0; i < count(); ++i) {
    std::copy_n(values.data() + begins[i], piece_elements, to + i * piece_elements);
  }
}

}  // namespace rubato::optim
