#include "optim/inner_products.hpp"

#include <cstddef>
#include <utility>

#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

Floats load(const float* values, std::size_t i) { return load_lanes<Floats>(values + i); }

// Adds the products of factors(i), a pair of groups.
template <class Factors>
void add(std::size_t size, const Factors& factors, LaneSums& sums) {
  for (std::size_t i = 0; i < size; i += lanes) {
    for_each_group([&](std::size_t group) {
      const auto [x, y] = factors(i + group * lane_group);
      add_product(widened(x), widened(y), sums[group]);
    });
  }
}

// The same over pieces; factors(i, j): of a segment's element i, whose scale is the j-th.
template <class Factors>
double sum(const MeasuredPieces& pieces, const Factors& factors) {
  LaneSums sums{};
  if (pieces.is_whole()) {
    add(
        pieces.size, [=](std::size_t i) { return factors(i, i); }, sums);
  }
  for (std::size_t j = 0; !pieces.is_whole() && j < pieces.size; j += piece_elements) {
    const std::size_t begin = pieces.begins[j / piece_elements];
    add(
        piece_elements, [=](std::size_t i) { return factors(begin + i, j + i); }, sums);
  }
  return sum_in_order(sums);
}

}  // namespace

double product(std::span<const float> a, std::span<const float> b) {
  LaneSums sums{};
  add(
      a.size(), [=](std::size_t i) { return std::pair(load(a.data(), i), load(b.data(), i)); },
      sums);
  return sum_in_order(sums);
}

double product(const MeasuredPieces& pieces, std::span<const float> a, std::span<const float> b,
               std::span<const float> scales) {
  return sum(pieces, [=](std::size_t i, std::size_t j) {
    const Floats scale = load(scales.data(), j);
    return std::pair(load(a.data(), i) * scale, load(b.data(), i) * scale);
  });
}

double square(const MeasuredPieces& pieces, std::span<const float> a,
              std::span<const float> scales) {
  return sum(pieces, [=](std::size_t i, std::size_t j) {
    const Floats scaled = load(a.data(), i) * load(scales.data(), j);
    return std::pair(scaled, scaled);
  });
}

}  // namespace rubato::optim
