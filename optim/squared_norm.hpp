// Squared norms of floats and of doubles, of any number of them, in the order of norm_block.hpp:
// what is left after the last whole row of lanes goes to the lanes that it would have had in it.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "optim/norm_block.hpp"

namespace rubato::optim {

inline namespace RUBATO_LANES {

// A squared norm that is added up while something else is done with the elements.
class SquareSum {
 public:
  // One group of a whole row: Lanes<float> or Lanes<double>.
  template <class Group>
  void add_group(std::size_t group, const Group& values) {
    if constexpr (std::is_same_v<Group, Floats>) {
      const Doubles wide = widened(values);
      add_product(wide, wide, sums_[group]);
    } else {
      sums_[group] += values * values;
    }
  }
  // Element number `index`, of a row that is not whole.
  void add_one(std::size_t index, double value) {
    const std::size_t lane = index % lanes;
    sums_[lane / lane_group][lane % lane_group] += value * value;
  }
  // All of them, the first in the first lane.
  template <class T>
  void add(std::span<const T> values) {
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes) {
      for_each_group([&](std::size_t group) {
        add_group(group, load_lanes<Lanes<T>>(values.data() + i + group * lane_group));
      });
    }
    for (; i < values.size(); ++i) add_one(i, values[i]);
  }
  double value() const { return sum_in_order(sums_); }

 private:
  LaneSums sums_{};
};

}  // namespace RUBATO_LANES

// T: float, double.
template <class T>
double squared_norm(std::span<const T> values);

}  // namespace rubato::optim
