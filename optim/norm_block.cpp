// One pass: the mean is measured while it is in registers.
#include "optim/norm_block.hpp"

namespace rubato::optim {

template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean) {
  LaneSums squares{};
  for (std::size_t i = 0; i < sum.size(); i += lanes) {
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      take_mean_of_lanes(load_lanes<Lanes<T>>(sum.data() + j), factor, mean + j, squares[group]);
    });
  }
  return sum_in_order(squares);
}

template double take_mean(std::span<const float>, float, float*);
template double take_mean(std::span<const double>, double, float*);

}  // namespace rubato::optim
