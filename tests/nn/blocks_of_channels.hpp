// Values of channels side by side, in blocks of 16, and back: element by element, by the definition
// of the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "nn/layer.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

inline Shape in_blocks(Shape shape) {
  shape.order = Order::blocks_of_16;
  return shape;
}

// Calls visit(place among channels side by side, place in blocks) for every element.
template <typename Visit>
void for_each_place(const Shape& shape, std::size_t elements, Visit visit) {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::size_t channel = i % shape.channels;
    const std::size_t pixel = i / shape.channels % shape.pixels();
    const std::size_t sample = i / shape.elements();
    const std::size_t block = sample * (shape.channels / 16) + channel / 16;
    visit(i, (block * shape.pixels() + pixel) * 16 + channel % 16);
  }
}

// `shape` is that of a sample on either side.
inline void put_into_blocks(const Shape& shape, std::span<const float> from, std::span<float> to) {
  for_each_place(shape, from.size(), [&](std::size_t side_by_side, std::size_t place) {
    to[place] = from[side_by_side];
  });
}

inline std::vector<float> out_of_blocks(const Shape& shape, std::span<const float> from) {
  std::vector<float> to(from.size());
  for_each_place(shape, from.size(), [&](std::size_t side_by_side, std::size_t place) {
    to[side_by_side] = from[place];
  });
  return to;
}

// The same as `from`, of a layer that has channels side by side, in the layer's order.
inline void take_values(const Shape& order_of, std::span<const float> from, std::span<float> to) {
  if (order_of.order == Order::blocks_of_16) return put_into_blocks(order_of, from, to);
  std::ranges::copy(from, to.begin());
}

inline std::vector<float> side_by_side(const Shape& shape, std::span<const float> values) {
  if (shape.order == Order::blocks_of_16) return out_of_blocks(shape, values);
  return {values.begin(), values.end()};
}

// Both layers compute the same, forwards and backwards, of the same values in their own orders;
// `twin` has all channels side by side.
inline void expect_same(LayerUnderTest& test, LayerUnderTest& twin, double tolerance) {
  const Shape in = test.layer().input_shape();
  const Shape out = test.layer().output_shape();
  take_values(in, twin.input(), test.input());
  take_values(out, twin.output_gradient(), test.output_gradient());
  take_values(out, twin.addend(), test.addend());
  take_values(out, twin.second_output_gradient(), test.second_output_gradient());
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
