// A matrix transposition per sample, in tiles that stay in the nearest cache.
#include "nn/flatten.hpp"

#include <algorithm>

namespace rubato::nn {
namespace {

constexpr std::size_t tile = 16;

// target[column][row] = source[row][column]
void transpose(const float* source, std::size_t rows, std::size_t columns, float* target) {
  for (std::size_t row0 = 0; row0 < rows; row0 += tile) {
    const std::size_t row_end = std::min(rows, row0 + tile);
    for (std::size_t column0 = 0; column0 < columns; column0 += tile) {
      const std::size_t column_end = std::min(columns, column0 + tile);
      for (std::size_t column = column0; column < column_end; ++column) {
        for (std::size_t row = row0; row < row_end; ++row) {
          target[column * rows + row] = source[row * columns + column];
        }
      }
    }
  }
}

}  // namespace

Flatten::Flatten(Shape input) : Layer(input, Shape{1, 1, input.elements()}) {}

void Flatten::forward(const ForwardPass& pass) {
  const Shape& shape = input_shape();
  for (std::size_t place = 0; place < pass.input.size(); place += shape.elements()) {
    transpose(pass.input.data() + place, shape.pixels(), shape.channels,
              pass.output.data() + place);
  }
}

void Flatten::backward(const BackwardPass& pass) {
  if (pass.input_gradient.empty()) return;
  const Shape& shape = input_shape();
  for (std::size_t place = 0; place < pass.input.size(); place += shape.elements()) {
    transpose(pass.output_gradient.data() + place, shape.channels, shape.pixels(),
              pass.input_gradient.data() + place);
  }
}

}  // namespace rubato::nn
