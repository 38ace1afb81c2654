// One template over the four ways to transpose for Eigen, a call per panel of B or one for oneDNN.
#include "nn/matrix_product.hpp"

#include <Eigen/Core>

#ifdef RUBATO_HAS_ONEDNN
#include <algorithm>
#include <stdexcept>

#include "nn/onednn.hpp"
#endif

namespace rubato::nn {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;

ConstMap mapped(const MatrixView& view) {
  return {view.data, static_cast<Eigen::Index>(view.rows), static_cast<Eigen::Index>(view.columns)};
}

template <typename A, typename B>
void multiply_eigen(const A& a, const B& b, float* result, bool accumulate) {
  Eigen::Map<Matrix> c(result, a.rows(), b.cols());
  if (accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

template <typename A>
void multiply_eigen(const A& a, MatrixView b, float* result, bool accumulate) {
  if (b.is_transposed) {
    multiply_eigen(a, mapped(b).transpose(), result, accumulate);
  } else {
    multiply_eigen(a, mapped(b), result, accumulate);
  }
}

void multiply_eigen(MatrixView a, MatrixView b, float* result, bool accumulate) {
  if (a.is_transposed) {
    multiply_eigen(mapped(a).transpose(), b, result, accumulate);
  } else {
    multiply_eigen(mapped(a), b, result, accumulate);
  }
}

#ifdef RUBATO_HAS_ONEDNN
// oneDNN keeps the kernels of the shapes used last; to get one again takes a few microseconds.
void matmul_onednn(const MatrixView& a, const MatrixView& b, const dnnl::memory::dims& shape,
                   float* result) {
  using dnnl::memory;
  const auto described = [](const MatrixView& view) -> memory::desc {
    const memory::dims lying = {static_cast<memory::dim>(view.rows),
                                static_cast<memory::dim>(view.columns)};
    if (!view.is_transposed) return {lying, memory::data_type::f32, memory::format_tag::ab};
    return {{lying[1], lying[0]}, memory::data_type::f32, memory::format_tag::ba};
  };
  // oneDNN's memory objects take pointers to non-const, also for what they only read.
  const auto at = [&](const memory::desc& description, const float* values) -> memory {
    return {description, cpu_engine(), const_cast<float*>(values)};
  };
  const memory::desc product(shape, memory::data_type::f32, memory::format_tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::matmul::primitive_desc kernel({described(a), described(b), product}, attributes,
                                            cpu_engine());
  const memory::desc scratchpad = kernel.scratchpad_desc();
  const std::span<float> space = onednn_scratch(float_count(scratchpad));
  dnnl::matmul(kernel).execute(cpu_stream(), {{DNNL_ARG_SRC, at(described(a), a.data)},
                                              {DNNL_ARG_WEIGHTS, at(described(b), b.data)},
                                              {DNNL_ARG_DST, at(product, result)},
                                              {DNNL_ARG_SCRATCHPAD, at(scratchpad, space.data())}});
}

// What the second-level cache holds well, beside what streams through it.
constexpr std::size_t cached_floats = 65536;

// Rows that begin a multiple of a KiB apart compete for few sets of the first-level cache, and with
// AVX2 oneDNN's sgemm reads a matrix where it lies.
bool rows_compete(const MatrixView& view) { return view.rows >= 8 && view.columns % 256 == 0; }

// To copy such rows pays in a dense layer's products of some dozen samples (dense 9216->128 of
// layers_bench): each value is used for enough rows of the product, and A stays in the cache while
// copies of B's columns go by. Not for large squares.
bool copying_pays(const MatrixView& a, std::size_t rows_of_product) {
  return has_avx2_alone() && rows_of_product >= 16 && a.rows * a.columns <= cached_floats;
}

// What sgemm reads: rows of a matrix and where the next one begins.
struct Rows {
  const float* data;
  std::size_t stride;
};

// Some columns of a matrix, copied to rows that begin a cache line further apart than they reach.
std::size_t spread_floats(std::size_t rows, std::size_t columns) { return rows * (columns + 16); }

Rows spread(const MatrixView& view, std::size_t first, std::size_t columns, std::span<float> copy) {
  const std::size_t stride = columns + 16;
  for (std::size_t row = 0; row < view.rows; ++row) {
    std::copy_n(view.data + row * view.columns + first, columns, copy.data() + row * stride);
  }
  return {copy.data(), stride};
}

void multiply_onednn(MatrixView a, MatrixView b, float* result, bool accumulate) {
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_dim_t rows = size(a.is_transposed ? a.columns : a.rows);
  const dnnl_dim_t inner = size(a.is_transposed ? a.rows : a.columns);
  const std::size_t columns = b.is_transposed ? b.rows : b.columns;
  // Where few rows meet a large transposed matrix, matmul takes up to 40 % less time than sgemm; a
  // small one is done before its kernel is found.
  if (!accumulate && !a.is_transposed && b.is_transposed && b.rows * b.columns >= 65536) {
    return matmul_onednn(a, b, {rows, size(columns)}, result);
  }
  constexpr std::size_t most_rows = 1024;  // of B, to copy 64 columns and more at a time
  const bool pays = copying_pays(a, a.is_transposed ? a.columns : a.rows);
  const bool spreads_a = pays && a.is_transposed && rows_compete(a);
  const bool spreads_b = pays && !b.is_transposed && rows_compete(b) && b.rows <= most_rows;
  const std::size_t panel =
      spreads_b ? std::min(columns, cached_floats / b.rows / 16 * 16) : columns;
  const std::size_t floats_of_a = spreads_a ? spread_floats(a.rows, a.columns) : 0;
  const std::size_t floats_of_b = spreads_b ? spread_floats(b.rows, panel) : 0;
  const std::span<float> copies = onednn_scratch(floats_of_a + floats_of_b);
  const Rows left =
      spreads_a ? spread(a, 0, a.columns, copies.first(floats_of_a)) : Rows{a.data, a.columns};
  for (std::size_t first = 0; first < columns; first += panel) {
    const std::size_t count = std::min(panel, columns - first);
    const Rows right =
        spreads_b ? spread(b, first, count, copies.last(floats_of_b)) : Rows{b.data, b.columns};
    const dnnl_status_t status =
        dnnl_sgemm(a.is_transposed ? 'T' : 'N', b.is_transposed ? 'T' : 'N', rows, size(count),
                   inner, 1.0F, left.data, size(left.stride), right.data, size(right.stride),
                   accumulate ? 1.0F : 0.0F, result + first, size(columns));
    if (status != dnnl_success) {
      throw std::runtime_error("oneDNN's sgemm failed with status " + std::to_string(status));
    }
  }
}
#endif

}  // namespace

void multiply(Backend backend, MatrixView a, MatrixView b, float* result, bool accumulate) {
#ifdef RUBATO_HAS_ONEDNN
  if (backend != Backend::eigen) return multiply_onednn(a, b, result, accumulate);
#endif
  static_cast<void>(backend);
  multiply_eigen(a, b, result, accumulate);
}

}  // namespace rubato::nn
