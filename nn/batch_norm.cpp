// Two passes for the statistics (mean, then squared deviations: no cancellation), one to normalise.
// Backward, with n values per channel, x' = (x - mean) * r, r = 1 / sqrt(variance + epsilon):
//   d weight = sum dy x',  d bias = sum dy,  dx = weight r (dy - d bias / n - x' d weight / n).
#include "nn/batch_norm.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "nn/relu.hpp"

namespace rubato::nn {
namespace {

constexpr double epsilon = 1e-5;
constexpr double momentum = 0.1;

// Calls visit(element, lane) for all elements, whole rows of lanes at a time.
template <typename Visit>
void for_each_element(std::size_t elements, std::size_t lanes, Visit visit) {
  std::size_t row = 0;
  for (; row + lanes <= elements; row += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) visit(row + j, j);
  }
  for (std::size_t j = 0; row + j < elements; ++j) visit(row + j, j);
}

float inverse_deviation(double variance) {
  return static_cast<float>(1.0 / std::sqrt(variance + epsilon));
}

}  // namespace

BatchNorm::BatchNorm(std::string name, Shape input, Activation activation, Junction junction)
    : Layer(input, input),
      name_(std::move(name)),
      channels_(input.channels),
      activation_(activation),
      junction_(junction),
      channel_sums_(channels_),
      sums_(channels_),
      second_sums_(channels_),
      mean_(channels_),
      inverse_deviation_(channels_),
      variance_(channels_),
      lane_mean_(channel_sums_.lanes()),
      lane_scale_(channel_sums_.lanes()),
      lane_shift_(channel_sums_.lanes()),
      lane_slope_(channel_sums_.lanes()) {}

std::vector<TensorSpec> BatchNorm::tensors() const {
  return {{name_ + ".weight", {channels_}, 1, 1},
          {name_ + ".bias", {channels_}, 0, 0},
          {name_ + ".running_mean", {channels_}, 0, 0, /*is_parameter=*/false, momentum},
          {name_ + ".running_var", {channels_}, 1, 1, /*is_parameter=*/false, momentum}};
}

void BatchNorm::use_parameters(ConstTensors tensors) {
  weight_ = tensors[0];
  bias_ = tensors[1];
  running_mean_ = tensors[2];
  running_variance_ = tensors[3];
}

void BatchNorm::measure(std::span<const float> input) {
  const auto count = static_cast<double>(input.size() / channels_);
  const float* const x = input.data();
  channel_sums_.add_up(input.size(), sums_, [x](std::size_t i, std::size_t) { return x[i]; });
  for (std::size_t c = 0; c < channels_; ++c) mean_[c] = static_cast<float>(sums_[c] / count);
  channel_sums_.spread(mean_, lane_mean_);
  const float* const mean = lane_mean_.data();
  channel_sums_.add_up(input.size(), second_sums_, [x, mean](std::size_t i, std::size_t lane) {
    const float deviation = x[i] - mean[lane];
    return deviation * deviation;
  });
  for (std::size_t c = 0; c < channels_; ++c) {
    variance_[c] = second_sums_[c] / count;
    inverse_deviation_[c] = inverse_deviation(variance_[c]);
  }
}

void BatchNorm::normalise(const ForwardPass& pass) {
  channel_sums_.spread(mean_, lane_mean_);
  channel_sums_.spread(bias_, lane_shift_);
  for (std::size_t lane = 0; lane < lane_scale_.size(); ++lane) {
    lane_scale_[lane] = weight_[lane % channels_] * inverse_deviation_[lane % channels_];
  }
  const float* const x = pass.input.data();
  const float* const addend = pass.addend.data();
  const float* const mean = lane_mean_.data();
  const float* const scale = lane_scale_.data();
  const float* const shift = lane_shift_.data();
  float* const y = pass.output.data();
  const bool has_addend = junction_ == Junction::addend;
  const bool has_relu = activation_ == Activation::relu;
  for_each_element(pass.input.size(), lane_scale_.size(), [=](std::size_t i, std::size_t lane) {
    float value = (x[i] - mean[lane]) * scale[lane] + shift[lane];
    if (has_addend) value += addend[i];
    y[i] = has_relu && value <= 0.0F ? 0.0F : value;
  });
}

void BatchNorm::forward(const ForwardPass& pass) {
  if (pass.input.size() / channels_ < 2) {
    throw std::invalid_argument("layer " + name_ +
                                ": BatchNorm needs more than one value per channel, this minibatch "
                                "has one; use minibatches of at least two samples");
  }
  measure(pass.input);
  normalise(pass);
}

void BatchNorm::evaluate(const ForwardPass& pass) {
  for (std::size_t c = 0; c < channels_; ++c) {
    mean_[c] = running_mean_[c];
    inverse_deviation_[c] = inverse_deviation(static_cast<double>(running_variance_[c]));
  }
  normalise(pass);
}

void BatchNorm::backward(const BackwardPass& pass) {
  if (!pass.second_output_gradient.empty()) {
    for (std::size_t i = 0; i < pass.output_gradient.size(); ++i) {
      pass.output_gradient[i] += pass.second_output_gradient[i];
    }
  }
  if (activation_ == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  const auto count = static_cast<double>(pass.input.size() / channels_);
  const float* const x = pass.input.data();
  const float* const dy = pass.output_gradient.data();
  const float* const mean = lane_mean_.data();
  channel_sums_.add_up(pass.input.size(), sums_, [=](std::size_t i, std::size_t) { return dy[i]; });
  channel_sums_.add_up(pass.input.size(), second_sums_, [=](std::size_t i, std::size_t lane) {
    return dy[i] * (x[i] - mean[lane]);
  });
  for (std::size_t c = 0; c < channels_; ++c) {
    const auto deviation_sum = second_sums_[c] * static_cast<double>(inverse_deviation_[c]);
    pass.tensor_gradients[0][c] = static_cast<float>(deviation_sum);
    pass.tensor_gradients[1][c] = static_cast<float>(sums_[c]);
    pass.tensor_gradients[2][c] = mean_[c];
    pass.tensor_gradients[3][c] = static_cast<float>(variance_[c] * count / (count - 1));
  }
  if (pass.input_gradient.empty()) return;
  for (std::size_t lane = 0; lane < lane_shift_.size(); ++lane) {
    const std::size_t c = lane % channels_;
    const auto r = static_cast<double>(inverse_deviation_[c]);
    lane_shift_[lane] = static_cast<float>(sums_[c] / count);
    lane_slope_[lane] = static_cast<float>(r * r * second_sums_[c] / count);
  }
  const float* const scale = lane_scale_.data();
  const float* const shift = lane_shift_.data();
  const float* const slope = lane_slope_.data();
  float* const dx = pass.input_gradient.data();
  for_each_element(pass.input.size(), lane_scale_.size(), [=](std::size_t i, std::size_t lane) {
    dx[i] = scale[lane] * (dy[i] - shift[lane] - (x[i] - mean[lane]) * slope[lane]);
  });
}

}  // namespace rubato::nn
