// A layer with all the memory its passes need, random values in it, and the check of its
// derivatives by central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

inline constexpr MinibatchKey test_key{42, 3, 5};

inline void fill_random(std::span<float> values, unsigned seed) {
  std::mt19937 generator(seed);
  for (float& value : values) value = static_cast<float>(generator() >> 8) * 0x1p-23F - 1.0F;
}

// All different, at least 4 / size apart, in [-2, 2): a small step changes no order and no sign.
inline void fill_separated(std::span<float> values, unsigned seed) {
  std::mt19937 generator(seed);
  const auto count = static_cast<float>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<float>(i) + 0.5F) * 4.0F / count - 2.0F;
  }
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[generator() % i]);
}

inline double distance(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return std::sqrt(difference / (norm + 1e-30));
}

class LayerUnderTest {
 public:
  LayerUnderTest(std::unique_ptr<Layer> layer, std::size_t samples)
      : layer_(std::move(layer)),
        input_(buffer(samples * layer_->input_shape().elements(), 1)),
        output_(buffer(samples * layer_->output_shape().elements(), 2)),
        output_gradient_(buffer(output_.size(), 3)),
        input_gradient_(buffer(input_.size(), 4)) {
    unsigned seed = 10;
    for (const TensorSpec& spec : layer_->tensors()) {
      std::size_t elements = 1;
      for (const std::size_t extent : spec.shape) elements *= extent;
      tensors_.push_back(buffer(elements, seed++));
      gradients_.push_back(buffer(elements, seed++));
    }
  }

  Layer& layer() { return *layer_; }
  std::span<float> input() { return input_; }
  std::span<float> output() { return output_; }
  std::span<float> output_gradient() { return output_gradient_; }
  std::span<float> input_gradient() { return input_gradient_; }
  std::span<float> tensor(std::size_t i) { return tensors_[i]; }
  std::span<float> gradient(std::size_t i) { return gradients_[i]; }

  void forward() {
    const std::vector<std::span<const float>> values(tensors_.begin(), tensors_.end());
    layer_->use_parameters(values);
    layer_->forward({input_, addend_, output_, test_key});
  }

  // The layer joins its input with these values from now on.
  void use_addend() { addend_ = buffer(output_.size(), 5); }
  std::span<float> addend() { return addend_; }
  void use_second_output_gradient() { second_output_gradient_ = buffer(output_.size(), 6); }
  std::span<float> second_output_gradient() { return second_output_gradient_; }

  // Backward may overwrite the output gradient; it gets a copy, which is returned.
  std::span<const float> backward(std::function<void()> tensors_are_final = {}) {
    scratch_.push_back({});
    const std::span<float> copy = scratch_.back().first(output_gradient_.size());
    std::copy(output_gradient_.begin(), output_gradient_.end(), copy.begin());
    layer_->write_statistics(gradients_);
    layer_->backward({input_, output_, copy, second_output_gradient_, input_gradient_, gradients_,
                      std::move(tensors_are_final)});
    return copy;
  }

  // Once, with all gradients of tensors written and nothing of the input's.
  void expect_to_tell_that_tensors_are_final() {
    constexpr float untouched = 1e30F;
    forward();
    std::ranges::fill(input_gradient_, untouched);
    std::vector<std::vector<float>> told;
    std::ptrdiff_t written = 0;
    backward([&] {
      for (const auto& gradient : gradients_) told.emplace_back(gradient.begin(), gradient.end());
      written = std::ssize(input_gradient_) - std::ranges::count(input_gradient_, untouched);
    });
    EXPECT_EQ(written, 0);
    EXPECT_EQ(std::ranges::count(input_gradient_, untouched), 0);
    ASSERT_EQ(told.size(), gradients_.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_TRUE(std::ranges::equal(told[i], gradients_[i])) << layer_->tensors()[i].name;
    }
  }

  // sum(output * output gradient): what backward() differentiates.
  double objective() {
    forward();
    double sum = 0;
    for (std::size_t i = 0; i < output_.size(); ++i) {
      sum += static_cast<double>(output_[i]) * static_cast<double>(output_gradient_[i]);
    }
    return sum;
  }

  // Compares the gradients of the input and of the first `parameters` tensors with central
  // differences.
  void expect_derivatives(std::size_t parameters, float step, double tolerance) {
    forward();
    backward();
    const std::vector<float> input_gradient(input_gradient_.begin(), input_gradient_.end());
    EXPECT_LT(distance(input_gradient, numerical(input_, step)), tolerance) << "input";
    for (std::size_t i = 0; i < parameters; ++i) {
      EXPECT_LT(distance(gradients_[i], numerical(tensors_[i], step)), tolerance)
          << layer_->tensors()[i].name;
    }
  }

 private:
  std::span<float> buffer(std::size_t elements, unsigned seed) {
    scratch_.push_back({});
    const std::span<float> values = scratch_.back().first(elements);
    fill_random(values, seed);
    return values;
  }

  std::vector<float> numerical(std::span<float> values, float step) {
    std::vector<float> derivatives;
    for (float& value : values) {
      const float kept = value;
      value = kept + step;
      const double above = objective();
      value = kept - step;
      const double below = objective();
      value = kept;
      derivatives.push_back(
          static_cast<float>((above - below) / (2.0 * static_cast<double>(step))));
    }
    return derivatives;
  }

  std::vector<AlignedBuffer<float>> scratch_;  // buffers keep their address when moved
  std::unique_ptr<Layer> layer_;
  std::span<float> input_, addend_, output_, output_gradient_, second_output_gradient_;
  std::span<float> input_gradient_;
  std::vector<std::span<float>> tensors_, gradients_;
};

}  // namespace rubato::nn
