#include "nn/matrix_product.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {
namespace {

float element(const MatrixView& m, std::size_t row, std::size_t column) {
  return m.is_transposed ? m.data[column * m.columns + row] : m.data[row * m.columns + column];
}

// The product by its definition, in double.
std::vector<float> by_definition(const MatrixView& a, const MatrixView& b, std::size_t rows,
                                 std::size_t inner, std::size_t columns) {
  std::vector<float> result;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < inner; ++k) {
        sum += static_cast<double>(element(a, i, k)) * static_cast<double>(element(b, k, j));
      }
      result.push_back(static_cast<float>(sum));
    }
  }
  return result;
}

struct Sizes {
  std::size_t rows, inner, columns;
};

void expect_product(Backend backend, const Sizes& sizes, bool a_transposed, bool b_transposed) {
  std::vector<float> a(sizes.rows * sizes.inner);
  std::vector<float> b(sizes.inner * sizes.columns);
  fill_random(a, 1);
  fill_random(b, 2);
  const MatrixView view_a{a.data(), a_transposed ? sizes.inner : sizes.rows,
                          a_transposed ? sizes.rows : sizes.inner, a_transposed};
  const MatrixView view_b{b.data(), b_transposed ? sizes.columns : sizes.inner,
                          b_transposed ? sizes.inner : sizes.columns, b_transposed};
  std::vector<float> expected =
      by_definition(view_a, view_b, sizes.rows, sizes.inner, sizes.columns);
  std::vector<float> product(expected.size(), 5.0F);
  multiply(backend, view_a, view_b, product.data());
  EXPECT_LT(distance(product, expected), 1e-6);
  std::fill(product.begin(), product.end(), 5.0F);
  multiply(backend, view_a, view_b, product.data(), /*accumulate=*/true);
  for (float& value : expected) value += 5.0F;
  EXPECT_LT(distance(product, expected), 1e-6) << "accumulated";
}

TEST(MatrixProduct, EqualsItsDefinitionForEveryTransposition) {
  for (const std::string& name : backend_names()) {
    for (const Sizes& sizes :
         {Sizes{1, 1, 1}, Sizes{1, 9, 4}, Sizes{2, 3, 5}, Sizes{32, 320, 50}, Sizes{50, 1, 10},
          Sizes{65, 130, 7}, Sizes{9, 700, 130}, Sizes{40, 300, 1024}, Sizes{512, 32, 70},
          Sizes{256, 8, 768}, Sizes{3, 300, 512}, Sizes{16, 1030, 256}}) {
      for (int transposition = 0; transposition < 4; ++transposition) {
        SCOPED_TRACE(name + " " + std::to_string(sizes.rows) + "x" + std::to_string(sizes.inner) +
                     "x" + std::to_string(sizes.columns) + " transposition " +
                     std::to_string(transposition));
        expect_product(backend(name), sizes, (transposition & 1) != 0, (transposition & 2) != 0);
      }
    }
  }
}

}  // namespace
}  // namespace rubato::nn
