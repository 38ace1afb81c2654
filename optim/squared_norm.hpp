// Squared norms of floats and of doubles, of any number of them, in the order of norm_block.hpp:
// what is left after the last whole row of lanes goes to the lanes that it would have had in it.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "optim/norm_block.hpp"

namespace rubato::optim {

template <class T>
using Lanes = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;

inline const Doubles& widened(const Doubles& values) { return values; }

// A squared norm that is added up while something else is done with the elements.
class SquareSum {
 public:
  // A whole row: Lanes<float> or Lanes<double>.
  template <class Row>
  void add_row(const Row& low, const Row& high) {
    const Doubles wide_low = widened(low);
    const Doubles wide_high = widened(high);
    low_ += wide_low * wide_low;
    high_ += wide_high * wide_high;
  }
  // Element number `index`, of a row that is not whole.
  void add_one(std::size_t index, double value) {
    const std::size_t lane = index % lanes;
    (lane < lane_group ? low_ : high_)[lane % lane_group] += value * value;
  }
  // All of them, the first in the first lane.
  template <class T>
  void add(std::span<const T> values) {
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes) {
      add_row(load_lanes<Lanes<T>>(values.data() + i),
              load_lanes<Lanes<T>>(values.data() + i + lane_group));
    }
    for (; i < values.size(); ++i) add_one(i, values[i]);
  }
  double value() const { return sum_in_order(low_, high_); }

 private:
  Doubles low_{};
  Doubles high_{};
};

// T: float, double.
template <class T>
double squared_norm(std::span<const T> values);

}  // namespace rubato::optim
