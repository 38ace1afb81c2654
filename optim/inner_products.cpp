#include "optim/inner_products.hpp"

#include <cstddef>
#include <utility>

#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

Floats load(std::span<const float> values, std::size_t from) {
  return load_lanes<Floats>(values.data() + from);
}

// Of the products of factors(i), a pair of groups.
template <class Factors>
double sum(std::size_t size, const Factors& factors) {
  LaneSums sums{};
  for (std::size_t i = 0; i < size; i += lanes) {
    for_each_group([&](std::size_t group) {
      const auto [x, y] = factors(i + group * lane_group);
      add_product(widened(x), widened(y), sums[group]);
    });
  }
  return sum_in_order(sums);
}

}  // namespace

double product(std::span<const float> a, std::span<const float> b) {
  return sum(a.size(), [=](std::size_t i) { return std::pair(load(a, i), load(b, i)); });
}

double product(std::span<const float> a, std::span<const float> b, std::span<const float> scales) {
  return sum(a.size(), [=](std::size_t i) {
    const Floats scale = load(scales, i);
    return std::pair(load(a, i) * scale, load(b, i) * scale);
  });
}

double square(std::span<const float> a, std::span<const float> scales) {
  return sum(a.size(), [=](std::size_t i) {
    const Floats scaled = load(a, i) * load(scales, i);
    return std::pair(scaled, scaled);
  });
}

}  // namespace rubato::optim
