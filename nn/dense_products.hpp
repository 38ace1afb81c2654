// The three matrix products of a dense layer for a minibatch, by a kernel of our own. Where AVX2 is
// the widest set of the processor, oneDNN's sgemm and matmul wait longer for memory (README.md).
//
// Bits: each value is the sum of its products in the order of the index that is summed over, every
// product added with one rounding; so a sample's values do not depend on the others beside it.
#pragma once

#include <cstddef>
#include <span>

namespace rubato::nn {

// Row-major matrices: input [samples, inputs], output [samples, outputs], weights [outputs,
// inputs]; gradients like what they are of.
struct DenseSizes {
  std::size_t samples, inputs, outputs;
};

// In builds for processors with AVX2's fused products, from 16 samples and 32 outputs on.
bool has_dense_products(const DenseSizes& sizes);

// What each of the products takes of its scratch space, which begins on a cache line.
std::size_t dense_products_scratch_floats(const DenseSizes& sizes);

// y = x W^T
void dense_output(const DenseSizes& sizes, std::span<const float> input,
                  std::span<const float> weights, std::span<float> scratch,
                  std::span<float> output);

// dx = dy W
void dense_input_gradient(const DenseSizes& sizes, std::span<const float> output_gradient,
                          std::span<const float> weights, std::span<float> scratch,
                          std::span<float> input_gradient);

// dW = dy^T x
void dense_weight_gradient(const DenseSizes& sizes, std::span<const float> output_gradient,
                           std::span<const float> input, std::span<float> scratch,
                           std::span<float> weight_gradient);

}  // namespace rubato::nn
