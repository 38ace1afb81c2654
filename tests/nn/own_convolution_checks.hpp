// What both convolutions with passes of our own must do, whatever their shape.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "tests/nn/convolution_by_definition.hpp"

namespace rubato::nn {

using MakeConvolution = std::function<std::unique_ptr<Layer>(const ConvolutionGeometry&)>;

// With its first parameters, and with others.
inline void expect_outputs_by_definition(const MakeConvolution& make,
                                         const ConvolutionGeometry& geometry, std::size_t samples,
                                         double at_most) {
  LayerUnderTest test(make(geometry), samples);
  for (const unsigned seed : {77U, 78U}) {
    test.forward();
    EXPECT_LT(distance(test.output(), convolution_by_definition(geometry, test)), at_most);
    for (std::size_t i = 0; i < (geometry.has_bias ? 2U : 1U); ++i) {
      fill_random(test.tensor(i), seed);
    }
  }
}

inline void expect_gradients_of_matrix_products(const MakeConvolution& make,
                                                ConvolutionGeometry geometry, std::size_t samples) {
  // Where ReLU cuts off is decided by the last bit of some sums.
  geometry.activation = Activation::none;
  LayerUnderTest test(make(geometry), samples);
  LayerUnderTest twin(make_eigen_convolution(geometry), samples);
  for (const unsigned seed : {77U, 78U}) {
    test.forward();
    twin.forward();
    test.backward();
    twin.backward();
    EXPECT_LT(distance(test.input_gradient(), twin.input_gradient()), 1e-6);
    for (std::size_t i = 0; i < (geometry.has_bias ? 2U : 1U); ++i) {
      EXPECT_LT(distance(test.gradient(i), twin.gradient(i)), 2e-6) << i;
    }
    fill_random(test.tensor(0), seed);
    fill_random(twin.tensor(0), seed);
  }
}

// As everywhere, though no comparison of values would tell.
inline void expect_relu_to_make_positive_zeros(std::unique_ptr<Layer> layer, std::size_t samples) {
  LayerUnderTest test(std::move(layer), samples);
  std::ranges::fill(test.input(), 0.0F);
  std::ranges::fill(test.tensor(0), -1.0F);
  std::ranges::fill(test.tensor(1), -0.0F);
  test.forward();
  for (const float value : test.output()) {
    EXPECT_EQ(value, 0.0F);
    EXPECT_FALSE(std::signbit(value));
  }
}

// By make_convolution(), for all backends but the one for comparing digits, whose kernels may round
// one of the two passes alike.
inline void expect_to_be_taken(const MakeConvolution& make, const ConvolutionGeometry& geometry,
                               std::size_t samples) {
  LayerUnderTest own(make(geometry), samples);
  own.forward();
  own.backward();
  for (const std::string& name : backend_names()) {
    LayerUnderTest test(make_convolution(geometry, backend(name)), samples);
    test.forward();
    test.backward();
    const bool is_own = name != "onednn-direct";
    EXPECT_EQ(std::ranges::equal(test.output(), own.output()) &&
                  std::ranges::equal(test.gradient(0), own.gradient(0)),
              is_own)
        << name;
  }
}

}  // namespace rubato::nn
