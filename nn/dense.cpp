// Three matrix products: y = x W^T, dx = dy W, dW = dy^T x.
#include "nn/dense.hpp"

#include <cmath>
#include <utility>

#include "nn/dense_products.hpp"
#include "nn/matrix_product.hpp"
#include "nn/relu.hpp"
#ifdef RUBATO_HAS_ONEDNN
#include "nn/onednn.hpp"
#endif

namespace rubato::nn {
namespace {

#ifdef RUBATO_HAS_ONEDNN
bool takes_own_products(Backend backend, const DenseSizes& sizes) {
  return backend == Backend::onednn && has_avx2_alone() && has_dense_products(sizes);
}

std::span<float> scratch(const DenseSizes& sizes) {
  return onednn_scratch(dense_products_scratch_floats(sizes));
}
#else
bool takes_own_products(Backend, const DenseSizes&) { return false; }

std::span<float> scratch(const DenseSizes&) { return {}; }
#endif

}  // namespace

Dense::Dense(std::string name, Shape input, std::size_t outputs, Activation activation,
             Backend backend)
    : Layer(input, Shape{1, 1, outputs}, {.has_factors = true}),
      name_(std::move(name)),
      inputs_(input.elements()),
      outputs_(outputs),
      activation_(activation),
      backend_(backend),
      bias_(outputs) {}

std::vector<TensorSpec> Dense::tensors() const {
  // PyTorch's default for Linear: uniform with bound 1/sqrt(fan in), weight and bias alike.
  const double bound = 1.0 / std::sqrt(static_cast<double>(inputs_));
  return {{name_ + ".weight", {outputs_, inputs_}, -bound, bound},
          {name_ + ".bias", {outputs_}, -bound, bound}};
}

void Dense::use_parameters(ConstTensors tensors) {
  weight_values_ = tensors[0];
  bias_values_ = tensors[1];
}

void Dense::forward(const ForwardPass& pass) {
  const DenseSizes sizes{samples(pass.input), inputs_, outputs_};
  if (takes_own_products(backend_, sizes)) {
    dense_output(sizes, pass.input, weight_values_, scratch(sizes), pass.output);
  } else {
    multiply(backend_, {pass.input.data(), sizes.samples, inputs_},
             {weight_values_.data(), outputs_, inputs_, /*is_transposed=*/true},
             pass.output.data());
  }
  bias_.add(bias_values_, activation_, pass.output);
}

void Dense::backward(const BackwardPass& pass) {
  if (activation_ == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  pass.tell_factors_are_final();
  multiply_factors(pass.output_gradient, pass.input, pass.tensor_gradients[0]);
  bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  if (pass.input_gradient.empty()) return;
  pass.tell_tensors_are_final();
  const DenseSizes sizes{samples(pass.input), inputs_, outputs_};
  if (takes_own_products(backend_, sizes)) {
    dense_input_gradient(sizes, pass.output_gradient, weight_values_, scratch(sizes),
                         pass.input_gradient);
  } else {
    multiply(backend_, {pass.output_gradient.data(), sizes.samples, outputs_},
             {weight_values_.data(), outputs_, inputs_}, pass.input_gradient.data());
  }
}

void Dense::multiply_factors(std::span<const float> output_gradient, std::span<const float> input,
                             std::span<float> gradient) {
  const DenseSizes sizes{samples(input), inputs_, outputs_};
  if (takes_own_products(backend_, sizes)) {
    dense_weight_gradient(sizes, output_gradient, input, scratch(sizes), gradient);
  } else {
    multiply(backend_, {output_gradient.data(), sizes.samples, outputs_, /*is_transposed=*/true},
             {input.data(), sizes.samples, inputs_}, gradient.data());
  }
}

}  // namespace rubato::nn
