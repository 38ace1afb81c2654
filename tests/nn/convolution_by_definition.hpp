// A convolution by its definition, in double: the simple twin of every backend's kernels, and the
// suite of tests that they all pass (convolution_test.cpp).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "nn/compute_thread.hpp"
#include "nn/convolution.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

class ConvolutionKernels : public testing::TestWithParam<Backend> {
 protected:
  static std::unique_ptr<Layer> make(const ConvolutionGeometry& geometry) {
    hold_to_one_thread();  // as models do; two that wait for each other on a busy core take minutes
    return make_convolution(geometry, GetParam());
  }
};

inline std::vector<float> convolution_by_definition(const ConvolutionGeometry& g,
                                                    LayerUnderTest& test) {
  const Shape out = g.output();
  const std::size_t samples = test.input().size() / g.input.elements();
  const auto weight = [&](std::size_t o, std::size_t i, std::size_t ky, std::size_t kx) {
    return static_cast<double>(
        test.tensor(0)[((o * g.input.channels + i) * g.kernel + ky) * g.kernel + kx]);
  };
  const auto input = [&](std::size_t n, std::size_t y, std::size_t x, std::size_t i) {
    // Rows and columns of the padded image.
    if (y < g.padding || y >= g.input.height + g.padding) return 0.0;
    if (x < g.padding || x >= g.input.width + g.padding) return 0.0;
    y -= g.padding;
    x -= g.padding;
    return static_cast<double>(
        test.input()[((n * g.input.height + y) * g.input.width + x) * g.input.channels + i]);
  };
  std::vector<float> result;
  for (std::size_t n = 0; n < samples; ++n) {
    for (std::size_t pixel = 0; pixel < out.pixels(); ++pixel) {
      const std::size_t y = pixel / out.width;
      const std::size_t x = pixel % out.width;
      for (std::size_t o = 0; o < out.channels; ++o) {
        double sum = g.has_bias ? static_cast<double>(test.tensor(1)[o]) : 0.0;
        for (std::size_t i = 0; i < g.input.channels; ++i) {
          for (std::size_t k = 0; k < g.kernel * g.kernel; ++k) {
            const std::size_t ky = k / g.kernel;
            const std::size_t kx = k % g.kernel;
            sum += weight(o, i, ky, kx) * input(n, y * g.stride + ky, x * g.stride + kx, i);
          }
        }
        const bool is_cut = g.activation == Activation::relu && sum < 0;
        result.push_back(is_cut ? 0.0F : static_cast<float>(sum));
      }
    }
  }
  return result;
}

// Neither side square, channels no multiple of anything.
inline std::vector<ConvolutionGeometry> test_convolutions() {
  return {{"conv", {5, 4, 3}, 2, 3, Activation::none},
          {"conv", {6, 7, 1}, 10, 5, Activation::relu},
          {"conv", {4, 5, 10}, 20, 2, Activation::relu},
          {"conv", {2, 3, 9}, 8, 1, Activation::none},
          {"conv", {3, 3, 4}, 5, 3, Activation::none},
          {"conv", {5, 6, 3}, 16, 3, Activation::relu, 1, 1},
          {"conv", {7, 8, 16}, 8, 3, Activation::none, 2, 1, /*has_bias=*/false},
          {"conv", {6, 5, 32}, 20, 1, Activation::relu, 2, 0, /*has_bias=*/false},
          {"conv", {9, 8, 3}, 4, 7, Activation::none, 2, 3, /*has_bias=*/false},
          {"conv", {1, 2, 5}, 6, 7, Activation::none, 2, 3, /*has_bias=*/false},
          {"conv", {1, 1, 24}, 40, 3, Activation::none, 2, 1, /*has_bias=*/false}};
}

}  // namespace rubato::nn
