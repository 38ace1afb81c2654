// A matrix product of 1024 x 1024 floats: it moves 12 MB and computes 2.1 GFLOP, so memory does not
// hold it up.
#pragma once

#include <algorithm>
#include <cstddef>

#include "nn/aligned_buffer.hpp"
#include "nn/matrix_product.hpp"

namespace rubato::bench {

class SquareProduct {
 public:
  static constexpr std::size_t size = 1024;
  static constexpr double gflop = 2e-9 * size * size * size;

  SquareProduct() {
    for (auto* factor : {&left_, &right_}) std::ranges::fill(factor->first(elements), 0.5F);
  }

  void multiply(nn::Backend backend) {
    nn::multiply(backend, {left_.first(elements).data(), size, size},
                 {right_.first(elements).data(), size, size}, product_.first(elements).data());
  }

 private:
  static constexpr std::size_t elements = size * size;
  nn::AlignedBuffer<float> left_, right_, product_;
};

}  // namespace rubato::bench
