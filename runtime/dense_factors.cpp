// See dense_factors.hpp.
#include "runtime/dense_factors.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::runtime {

namespace {

std::vector<optim::FactoredTensor> factored_tensors(const nn::Model& model) {
  std::vector<optim::FactoredTensor> factored;
  for (const std::size_t tensor : model.factored_tensors()) {
    const nn::TensorInfo& info = model.layout().tensors()[tensor];
    factored.push_back({tensor, info.offset, info.shape[0], info.shape[1]});
  }
  return factored;
}

}  // namespace

void allow_factors(nn::Model& model, optim::GradientSync& sync) {
  sync.allow_factors(factored_tensors(model), [&model](const optim::Factors& factors,
                                                       std::span<float> gradient) {
    model.multiply_factors({factors.tensor, factors.output_gradients, factors.inputs}, gradient);
  });
}

}  // namespace rubato::runtime
