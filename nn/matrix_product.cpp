// One template over the four ways to transpose for Eigen, one call for oneDNN.
#include "nn/matrix_product.hpp"

#include <Eigen/Core>

#ifdef RUBATO_HAS_ONEDNN
#include <oneapi/dnnl/dnnl.h>

#include <stdexcept>
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
void multiply_onednn(MatrixView a, MatrixView b, float* result, bool accumulate) {
  const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
  const dnnl_dim_t rows = size(a.is_transposed ? a.columns : a.rows);
  const dnnl_dim_t inner = size(a.is_transposed ? a.rows : a.columns);
  const dnnl_dim_t columns = size(b.is_transposed ? b.rows : b.columns);
  const dnnl_status_t status = dnnl_sgemm(
      a.is_transposed ? 'T' : 'N', b.is_transposed ? 'T' : 'N', rows, columns, inner, 1.0F, a.data,
      size(a.columns), b.data, size(b.columns), accumulate ? 1.0F : 0.0F, result, columns);
  if (status != dnnl_success) {
    throw std::runtime_error("oneDNN's sgemm failed with status " + std::to_string(status));
  }
}
#endif

}  // namespace

void multiply(Backend backend, MatrixView a, MatrixView b, float* result, bool accumulate) {
#ifdef RUBATO_HAS_ONEDNN
  if (backend == Backend::onednn) return multiply_onednn(a, b, result, accumulate);
#endif
  static_cast<void>(backend);
  multiply_eigen(a, b, result, accumulate);
}

}  // namespace rubato::nn
