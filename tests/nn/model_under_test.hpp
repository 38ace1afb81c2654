// A model with parameters, a minibatch and a gradient, all on aligned memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "nn/model_zoo.hpp"
#include "tests/nn/layer_under_test.hpp"

namespace rubato::nn {

class ModelUnderTest {
 public:
  ModelUnderTest(const std::string& spec, InputShape shape, std::size_t samples, Backend backend)
      : model_(make_model(spec, shape, 10, backend)),
        parameters_(parameter_buffer_.first(model_->layout().total_elements())),
        gradient_(gradient_buffer_.first(parameters_.size())),
        inputs_(input_buffer_.first(samples * shape.height * shape.width * shape.channels)),
        labels_(samples) {
    model_->initialize(parameters_, 42);
    fill_random(inputs_, 7);
    for (std::size_t i = 0; i < samples; ++i) labels_[i] = static_cast<std::int32_t>(i * 7 % 10);
  }

  Model& model() { return *model_; }
  const Layout& layout() const { return model_->layout(); }
  std::span<float> parameters() { return parameters_; }
  std::span<float> gradient() { return gradient_; }
  std::span<float> inputs() { return inputs_; }
  std::span<std::int32_t> labels() { return labels_; }

  // Loss and gradient of the first `samples` samples (0: all), into poisoned memory.
  MinibatchLoss compute(std::size_t samples = 0, MinibatchKey key = test_key) {
    const std::size_t count = samples == 0 ? labels_.size() : samples;
    std::fill(gradient_.begin(), gradient_.end(), 1e30F);
    model_->use_parameters(parameters_);
    return model_->gradient({inputs_.first(inputs_.size() / labels_.size() * count),
                             std::span<const std::int32_t>(labels_).first(count), key},
                            gradient_);
  }

  std::span<float> gradient_of(const TensorInfo& tensor) {
    return gradient_.subspan(tensor.offset, tensor.size);
  }

 private:
  AlignedBuffer<float> parameter_buffer_, gradient_buffer_, input_buffer_;
  std::unique_ptr<Model> model_;
  std::span<float> parameters_, gradient_, inputs_;
  std::vector<std::int32_t> labels_;
};

struct ModelCase {
  const char* spec;
  InputShape shape;
};

// Every kind of built-in model, images of three channels and of one. A larger residual network
// takes other decisions at its ReLUs after rounding, and its gradient jumps: see its own tests.
inline std::vector<ModelCase> model_cases() {
  return {{"linear", {3, 5, 3}},           {"mlp:20,13", {4, 4, 3}},
          {"mnist", {28, 28, 1}},          {"mnist", {20, 24, 3}},
          {"mnist-tutorial", {12, 14, 1}}, {"mnist-tutorial:dropout=0", {11, 9, 3}},
          {"resnet20", {8, 6, 3}}};
}

inline std::vector<float> copy_of(std::span<const float> values) {
  return {values.begin(), values.end()};
}

inline bool has_equal_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

inline void for_each_model(const std::function<void(const ModelCase&, Backend)>& check) {
  for (const std::string& name : backend_names()) {
    for (const ModelCase& model : model_cases()) {
      SCOPED_TRACE(name + " " + model.spec);
      check(model, backend(name));
    }
  }
}

}  // namespace rubato::nn
