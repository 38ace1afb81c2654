// Whether hosts multiply alike is tried out: kernels may be chosen by more of a processor than the
// name of its instruction set, on which the ranks have agreed.
#include "runtime/dense_factors.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "runtime/sha256.hpp"

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

// Numbers that have many digits, and differ from each other.
void fill(std::span<float> factors) {
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] = 1.0F / static_cast<float>(3 + i % 1009) - 0.01F;
  }
}

std::string digest_of_product(nn::Model& model, const optim::FactoredTensor& tensor,
                              std::size_t samples) {
  nn::AlignedBuffer<float> output_gradients, inputs, product;
  fill(output_gradients.first(samples * tensor.outputs));
  fill(inputs.first(samples * tensor.inputs));
  const std::span<float> gradient = product.first(tensor.size());
  model.multiply_factors({tensor.tensor, output_gradients.all(), inputs.all()}, gradient);
  return sha256(std::as_bytes(std::span<const float>(gradient)));
}

bool multiply_alike(nn::Model& model, std::span<const optim::FactoredTensor> tensors,
                    const collectives::Communicator& ranks) {
  std::string digests;
  for (const optim::FactoredTensor& tensor : tensors) {
    // Of more samples the factors are more numbers than the gradient.
    const std::size_t most = std::max(tensor.size() / (tensor.outputs + tensor.inputs), 1UL);
    for (const std::size_t samples : {std::min(most, 8UL), most}) {
      digests += digest_of_product(model, tensor, samples);
    }
  }
  const std::vector<std::string> all = ranks.gather(digests);
  return std::ranges::all_of(all, [&](const std::string& each) { return each == digests; });
}

}  // namespace

void allow_factors(nn::Model& model, optim::GradientSync& sync) {
  std::vector<optim::FactoredTensor> tensors = factored_tensors(model);
  if (!sync.may_have_factors() || !multiply_alike(model, tensors, sync.topology().all())) return;
  sync.allow_factors(std::move(tensors), [&model](const optim::Factors& factors,
                                                  std::span<float> gradient) {
    model.multiply_factors({factors.tensor, factors.output_gradients, factors.inputs}, gradient);
  });
}

}  // namespace rubato::runtime
