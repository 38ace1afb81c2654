// One pass: the mean is measured while it is in registers.
#include "optim/norm_block.hpp"

#include <type_traits>

namespace rubato::optim {

template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean) {
  using Sums = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;
  Doubles low{};
  Doubles high{};
  for (std::size_t i = 0; i < sum.size(); i += lanes) {
    const T* const from = sum.data() + i;
    take_mean_of_lanes(load_lanes<Sums>(from), factor, mean + i, low);
    take_mean_of_lanes(load_lanes<Sums>(from + lane_group), factor, mean + i + lane_group, high);
  }
  return sum_in_order(low, high);
}

template double take_mean(std::span<const float>, float, float*);
template double take_mean(std::span<const double>, double, float*);

}  // namespace rubato::optim
