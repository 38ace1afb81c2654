// C = A B on row-major matrices, by Eigen or by oneDNN's sgemm and matmul.
//
// Bits: with one thread, both depend only on the shapes and the values when the matrices start on a
// cache line. Eigen's blocking follows the cache sizes, which select_kernels() fixes.
#pragma once

#include <cstddef>

#include "nn/backend.hpp"

namespace rubato::nn {

// A row-major matrix in memory, taken as it lies or transposed.
struct MatrixView {
  const float* data;
  std::size_t rows;  // as it lies in memory
  std::size_t columns;
  bool is_transposed = false;
};

// Writes the product to `result`; with `accumulate` adds it there instead.
void multiply(Backend backend, MatrixView a, MatrixView b, float* result, bool accumulate = false);

}  // namespace rubato::nn
