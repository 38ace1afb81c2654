#include "optim/inner_products.hpp"

#include <cstddef>

#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

Doubles wide(const float* values) {
  return __builtin_convertvector(load_lanes<Floats>(values), Doubles);
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
  return sum(a.size(), [=](std::size_t i) { return wide(a.data() + i) * wide(b.data() + i); });
}

double product(std::span<const float> a, std::span<const float> b, std::span<const float> weights) {
  return sum(a.size(), [=](std::size_t i) {
    return wide(a.data() + i) * wide(b.data() + i) * wide(weights.data() + i);
  });
}

}  // namespace rubato::optim
