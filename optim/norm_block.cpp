// One pass: the mean is measured while it is in registers.
#include "optim/norm_block.hpp"

#include <type_traits>

namespace rubato::optim {

namespace {

template <class T>
void take_group(const T* __restrict sum, T factor, float* __restrict mean, Doubles& square) {
  using Sums = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;
  const Floats values = __builtin_convertvector(load_lanes<Sums>(sum) * factor, Floats);
  store_lanes(values, mean);
  const Doubles wide = __builtin_convertvector(values, Doubles);
  square += wide * wide;
}

}  // namespace

template <class T>
double take_mean(std::span<const T> sum, T factor, float* mean) {
  Doubles low{};
  Doubles high{};
  for (std::size_t i = 0; i < sum.size(); i += lanes) {
    take_group(sum.data() + i, factor, mean + i, low);
    take_group(sum.data() + i + lane_group, factor, mean + i + lane_group, high);
  }
  return sum_in_order(low, high);
}

template double take_mean(std::span<const float>, float, float*);
template double take_mean(std::span<const double>, double, float*);

}  // namespace rubato::optim
