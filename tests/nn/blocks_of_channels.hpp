// Values with all channels side by side, put into a shape's order and back: element by element, by
// the definition of the orders.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nn/layer.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

inline constexpr Order orders_in_blocks[] = {Order::blocks_of_8, Order::blocks_of_16};

inline Shape in_blocks(Shape shape, Order order) {
  shape.order = order;
  return shape;
}

// Calls visit(its place with all channels side by side, its place in the shape's order) for every
// element of samples of this shape.
template <typename Visit>
void for_each_place(const Shape& shape, std::size_t elements, Visit visit) {
  const std::size_t adjacent = shape.adjacent_channels();
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t channel = i % shape.channels;
    const std::size_t pixel = i / shape.channels % shape.pixels();
    const std::size_t sample = i / shape.elements();
    const std::size_t block = sample * (shape.channels / adjacent) + channel / adjacent;
    visit(i, (block * shape.pixels() + pixel) * adjacent + channel % adjacent);
  }
}

inline void put_in_order(const Shape& shape, std::span<const float> side_by_side,
                         std::span<float> values) {
  for_each_place(shape, side_by_side.size(),
                 [&](std::size_t i, std::size_t place) { values[place] = side_by_side[i]; });
}

inline std::vector<float> side_by_side(const Shape& shape, std::span<const float> values) {
  std::vector<float> result(values.size());
  for_each_place(shape, values.size(),
                 [&](std::size_t i, std::size_t place) { result[i] = values[place]; });
  return result;
}

// Both layers compute the same, forwards and backwards, of the same values in their own orders;
// `twin` has all channels side by side.
inline void expect_same(LayerUnderTest& test, LayerUnderTest& twin, double tolerance) {
  const Shape in = test.layer().input_shape();
  const Shape out = test.layer().output_shape();
  put_in_order(in, twin.input(), test.input());
  put_in_order(out, twin.output_gradient(), test.output_gradient());
  put_in_order(out, twin.addend(), test.addend());
  put_in_order(out, twin.second_output_gradient(), test.second_output_gradient());
  test.forward();
  twin.forward();
  EXPECT_LT(distance(side_by_side(out, test.output()), twin.output()), tolerance);
  const std::span<const float> left = test.backward();
  const std::span<const float> twins_left = twin.backward();
  EXPECT_LT(distance(side_by_side(in, test.input_gradient()), twin.input_gradient()), tolerance);
  if (!test.addend().empty()) {
    EXPECT_LT(distance(side_by_side(out, left), twins_left), tolerance);
  }
  for (std::size_t i = 0; i < test.layer().tensors().size(); ++i) {
    EXPECT_LT(distance(test.gradient(i), twin.gradient(i)), tolerance)
        << test.layer().tensors()[i].name;
  }
}

}  // namespace rubato::nn
