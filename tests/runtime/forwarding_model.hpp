// A model that does what another one does, for tests that look on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "nn/model.hpp"

namespace rubato::runtime {

class ForwardingModel : public nn::Model {
 public:
  explicit ForwardingModel(std::unique_ptr<nn::Model> model) : model_(std::move(model)) {}
  const nn::Layout& layout() const override { return model_->layout(); }
  void initialize(std::span<float> parameters, std::uint64_t seed) const override {
    model_->initialize(parameters, seed);
  }
  void use_parameters(std::span<const float> parameters) override {
    model_->use_parameters(parameters);
  }
  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch, std::span<float> out) override {
    return model_->gradient(minibatch, out);
  }
  std::vector<std::size_t> factored_tensors() const override { return model_->factored_tensors(); }
  void multiply_factors(const nn::Factors& factors, std::span<float> gradient) override {
    model_->multiply_factors(factors, gradient);
  }
  nn::MinibatchLoss evaluate(std::span<const float> inputs, std::span<const std::int32_t> labels,
                             std::span<nn::SampleLoss> each) override {
    return model_->evaluate(inputs, labels, each);
  }

 private:
  std::unique_ptr<nn::Model> model_;
};

}  // namespace rubato::runtime
