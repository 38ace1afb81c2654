// Two walks over memory forwards, two backwards.
//
// Statistics come from one walk without cancellation: of each run of 32 rows first the sum s, then,
// while it is in cache, the squared deviations q from its own mean; all runs together have the sum
// of squares sum(q + s^2 / 32), in double. Backward, with n values per channel,
// x' = (x - mean) * r, r = 1 / sqrt(variance + epsilon) and g the gradient of the normalised value:
//   d weight = sum g x',  d bias = sum g,  dx = weight r (g - d bias / n - x' d weight / n).
// Both walks need g, which is what ReLU lets through. Where there is no shortcut it is rather
// computed twice than written.
#include "nn/batch_norm.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace rubato::nn {
namespace {

constexpr double epsilon = 1e-5;
constexpr double momentum = 0.1;

float inverse_deviation(double variance) {
  return static_cast<float>(1.0 / std::sqrt(variance + epsilon));
}

// The gradient g of the normalised value, in three forms.

struct PlainGradient {
  const float* output_gradient;

  void load_constants(std::size_t /*lane*/) {}
  template <typename Access>
  Floats operator()(Access access, std::size_t i, std::size_t v, Floats /*deviation*/) const {
    return access.read(output_gradient + i, v);
  }
};

// ReLU's decision is made again from x, bit for bit as in the forward pass.
struct RectifiedGradient {
  const float* output_gradient;
  const float* lane_scale;
  const float* lane_bias;
  Block scale = {};
  Block bias = {};

  void load_constants(std::size_t lane) {
    scale = load_block(lane_scale + lane);
    bias = load_block(lane_bias + lane);
  }
  template <typename Access>
  Floats operator()(Access access, std::size_t i, std::size_t v, Floats deviation) const {
    return where_positive(deviation * scale.vectors[v] + bias.vectors[v],
                          access.read(output_gradient + i, v));
  }
};

// ReLU's decision from the output, of one gradient or of the sum of two. The result replaces the
// first, for the second walk and for the shortcut.
template <bool has_second>
struct JoinedGradient {
  const float* output;
  const float* second;
  float* gradient;

  void load_constants(std::size_t /*lane*/) {}
  template <typename Access>
  Floats operator()(Access access, std::size_t i, std::size_t v, Floats /*deviation*/) const {
    Floats g = access.read(gradient + i, v);
    if constexpr (has_second) g += access.read(second + i, v);
    g = where_positive(access.read(output + i, v), g);
    access.write(gradient + i, v, g);
    return g;
  }
};

}  // namespace

BatchNorm::BatchNorm(std::string name, Shape input, Ending ending)
    : Layer(input, input,
            {.works_in_place = ending != Ending::addend_and_relu,
             .adds_gradients = ending != Ending::none}),
      name_(std::move(name)),
      channels_(input.channels),
      ending_(ending),
      channel_sums_(ChannelLanes(input), 2),
      sums_(channels_),
      second_sums_(channels_),
      mean_(channels_),
      inverse_deviation_(channels_),
      variance_(channels_),
      lane_mean_(channel_sums_.lanes().count()),
      lane_scale_(channel_sums_.lanes().count()),
      lane_bias_(channel_sums_.lanes().count()),
      lane_shift_(channel_sums_.lanes().count()),
      lane_slope_(channel_sums_.lanes().count()) {}

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
  const float* const x = input.data();
  channel_sums_.clear();
  for_each_run(input.size(), channel_sums_.lanes(), [&](auto access, const BlockRun& run) {
    const Block sum = sum_of(access, run, x);
    const float rows_inverse = 1.0F / static_cast<float>(run.rows);
    Block mean;
    for (std::size_t v = 0; v < block_vectors; ++v) mean.vectors[v] = sum.vectors[v] * rows_inverse;
    Block square_sum;
    for_each_vector(run, [&](std::size_t i, std::size_t v) {
      const Floats deviation = access.read(x + i, v) - mean.vectors[v];
      square_sum.vectors[v] += deviation * deviation;
    });
    channel_sums_.add(0, run, sum);
    channel_sums_.add(1, run, square_sum);
    channel_sums_.add_squares(1, run, sum);
  });
  channel_sums_.fold(0, sums_);
  channel_sums_.fold(1, second_sums_);
  count_ = static_cast<double>(input.size() / channels_);
  for (std::size_t c = 0; c < channels_; ++c) {
    const double mean = sums_[c] / count_;
    mean_[c] = static_cast<float>(mean);
    variance_[c] = std::max(0.0, second_sums_[c] / count_ - mean * mean);
    inverse_deviation_[c] = inverse_deviation(variance_[c]);
  }
}

template <Ending ending>
void BatchNorm::normalise(const ForwardPass& pass) {
  const float* const x = pass.input.data();
  const float* const addend = pass.addend.data();
  float* const y = pass.output.data();
  for_each_run(pass.input.size(), channel_sums_.lanes(), [&](auto access, const BlockRun& run) {
    const Block mean = load_block(lane_mean_.data() + run.lane);
    const Block scale = load_block(lane_scale_.data() + run.lane);
    const Block bias = load_block(lane_bias_.data() + run.lane);
    for_each_vector(run, [=](std::size_t i, std::size_t v) {
      Floats value = (access.read(x + i, v) - mean.vectors[v]) * scale.vectors[v] + bias.vectors[v];
      if constexpr (ending == Ending::addend_and_relu) value += access.read(addend + i, v);
      if constexpr (ending != Ending::none) value = where_positive(value, value);
      access.write(y + i, v, value);
    });
  });
}

void BatchNorm::normalise(const ForwardPass& pass) {
  channel_sums_.spread(mean_, lane_mean_);
  channel_sums_.spread(bias_, lane_bias_);
  channel_sums_.lanes().for_each([this](std::size_t lane, std::size_t c) {
    lane_scale_[lane] = weight_[c] * inverse_deviation_[c];
  });
  if (ending_ == Ending::none) return normalise<Ending::none>(pass);
  if (ending_ == Ending::relu) return normalise<Ending::relu>(pass);
  normalise<Ending::addend_and_relu>(pass);
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

void BatchNorm::write_statistics(Tensors tensor_gradients) {
  for (std::size_t c = 0; c < channels_; ++c) {
    tensor_gradients[2][c] = mean_[c];
    tensor_gradients[3][c] = static_cast<float>(variance_[c] * count_ / (count_ - 1));
  }
}

void BatchNorm::evaluate(const ForwardPass& pass) {
  for (std::size_t c = 0; c < channels_; ++c) {
    mean_[c] = running_mean_[c];
    inverse_deviation_[c] = inverse_deviation(static_cast<double>(running_variance_[c]));
  }
  normalise(pass);
}

template <typename Gradient>
void BatchNorm::sum_gradients(std::span<const float> input, Gradient gradient) {
  const float* const x = input.data();
  channel_sums_.clear();
  for_each_run(input.size(), channel_sums_.lanes(),
               [&, gradient](auto access, const BlockRun& run) mutable {
                 gradient.load_constants(run.lane);
                 const Block mean = load_block(lane_mean_.data() + run.lane);
                 Block sum;
                 Block deviation_sum;
                 for_each_vector(run, [&](std::size_t i, std::size_t v) {
                   const Floats deviation = access.read(x + i, v) - mean.vectors[v];
                   const Floats g = gradient(access, i, v, deviation);
                   sum.vectors[v] += g;
                   deviation_sum.vectors[v] += g * deviation;
                 });
                 channel_sums_.add(0, run, sum);
                 channel_sums_.add(1, run, deviation_sum);
               });
  channel_sums_.fold(0, sums_);
  channel_sums_.fold(1, second_sums_);
}

template <typename Gradient>
void BatchNorm::write_input_gradient(const BackwardPass& pass, Gradient gradient) {
  channel_sums_.lanes().for_each([&](std::size_t lane, std::size_t c) {
    const auto r = static_cast<double>(inverse_deviation_[c]);
    lane_shift_[lane] = static_cast<float>(sums_[c] / count_);
    lane_slope_[lane] = static_cast<float>(r * r * second_sums_[c] / count_);
  });
  const float* const x = pass.input.data();
  float* const dx = pass.input_gradient.data();
  for_each_run(pass.input.size(), channel_sums_.lanes(),
               [&, gradient](auto access, const BlockRun& run) mutable {
                 gradient.load_constants(run.lane);
                 const Block mean = load_block(lane_mean_.data() + run.lane);
                 const Block scale = load_block(lane_scale_.data() + run.lane);
                 const Block shift = load_block(lane_shift_.data() + run.lane);
                 const Block slope = load_block(lane_slope_.data() + run.lane);
                 for_each_vector(run, [=](std::size_t i, std::size_t v) {
                   const Floats deviation = access.read(x + i, v) - mean.vectors[v];
                   const Floats g = gradient(access, i, v, deviation);
                   access.write(
                       dx + i, v,
                       scale.vectors[v] * (g - shift.vectors[v] - deviation * slope.vectors[v]));
                 });
               });
}

void BatchNorm::write_parameter_gradients(const BackwardPass& pass) const {
  const Tensors gradients = pass.tensor_gradients;
  for (std::size_t c = 0; c < channels_; ++c) {
    const auto deviation_sum = second_sums_[c] * static_cast<double>(inverse_deviation_[c]);
    gradients[0][c] = static_cast<float>(deviation_sum);
    gradients[1][c] = static_cast<float>(sums_[c]);
  }
}

template <typename First, typename Second>
void BatchNorm::backward(const BackwardPass& pass, First first, Second second) {
  sum_gradients(pass.input, first);
  write_parameter_gradients(pass);
  if (!pass.input_gradient.empty()) write_input_gradient(pass, second);
}

void BatchNorm::backward(const BackwardPass& pass) {
  float* const gradient = pass.output_gradient.data();
  const PlainGradient plain{gradient};
  if (ending_ == Ending::none) return backward(pass, plain, plain);
  if (!pass.second_output_gradient.empty()) {
    const float* const second = pass.second_output_gradient.data();
    return backward(pass, JoinedGradient<true>{pass.output.data(), second, gradient}, plain);
  }
  if (ending_ == Ending::addend_and_relu) {
    return backward(pass, JoinedGradient<false>{pass.output.data(), nullptr, gradient}, plain);
  }
  const RectifiedGradient rectified{gradient, lane_scale_.data(), lane_bias_.data()};
  backward(pass, rectified, rectified);
}

}  // namespace rubato::nn
