#include "optim/inner_products.hpp"

#include <cstddef>

#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

Floats load(std::span<const float> values, std::size_t from) {
  return load_lanes<Floats>(values.data() + from);
}

template <class Term>
double sum(std::size_t size, const Term& term) {
  Doubles low{};
  Doubles high{};
  for (std::size_t i = 0; i < size; i += lanes) {
    low += term(i);
    high += term(i + lane_group);
  }
  return sum_in_order(low, high);
}

}  // namespace

double product(std::span<const float> a, std::span<const float> b) {
  return sum(a.size(), [=](std::size_t i) { return widened(load(a, i)) * widened(load(b, i)); });
}

double product(std::span<const float> a, std::span<const float> b, std::span<const float> scales) {
  return sum(a.size(), [=](std::size_t i) {
    const Floats scale = load(scales, i);
    return widened(load(a, i) * scale) * widened(load(b, i) * scale);
  });
}

double square(std::span<const float> a, std::span<const float> scales) {
  return sum(a.size(), [=](std::size_t i) {
    const Doubles scaled = widened(load(a, i) * load(scales, i));
    return scaled * scaled;
  });
}

}  // namespace rubato::optim
