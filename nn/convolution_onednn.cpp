// Convolution by oneDNN: kernels and the orders that they like best are chosen in
// convolution_descriptions.cpp, and where weight_gradient_3x3() takes the place of one.
//
// Kernels are made for one minibatch size; those of the eight sizes used last are kept (a run has
// few: the minibatch, short last ones, the evaluation's). The weights are put into an order that
// kernels like once per update, whatever the sizes, and only if they are used in it; their gradient
// is put out of it once per minibatch. Scratch is ours, aligned, and the same memory for all
// convolutions: none needs its content after a pass.
#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "nn/aligned_buffer.hpp"
#include "nn/bias.hpp"
#include "nn/convolution.hpp"
#include "nn/convolution_descriptions.hpp"
#include "nn/onednn_weights.hpp"
#include "nn/recently_used.hpp"
#include "nn/relu.hpp"
#include "nn/reordered_values.hpp"
#include "nn/weight_gradient_3x3.hpp"

namespace rubato::nn {
namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

// Everything needed to compute at one minibatch size.
class Kernels {
 public:
  // `weights` are the layer's, and outlive this.
  Kernels(const ConvolutionGeometry& geometry, std::size_t samples, Backend backend,
          OnednnWeights& weights)
      : Kernels(geometry, ConvolutionDescriptions(geometry, samples, backend), weights) {}

  // `bias` is empty if there is none.
  void forward(std::span<const float> input, std::span<const float> bias, std::span<float> output);
  // `input_gradient` is empty if nobody needs it.
  void backward(const BackwardPass& pass);

 private:
  // A kernel, what it works on, and the scratch that it wants.
  template <typename Kernel>
  struct Call {
    Call(const typename Kernel::primitive_desc& description, Arguments its_arguments)
        : kernel(description),
          scratchpad(unattached(description.scratchpad_desc())),
          scratch_floats(float_count(description.scratchpad_desc())),
          arguments(std::move(its_arguments)) {
      arguments.emplace(DNNL_ARG_SCRATCHPAD, scratchpad);
    }
    void run(std::span<float> space) {
      point_at(scratchpad, space.first(scratch_floats));
      kernel.execute(cpu_stream(), arguments);
    }
    Kernel kernel;
    memory scratchpad;
    std::size_t scratch_floats;
    Arguments arguments;
  };

  Kernels(const ConvolutionGeometry& geometry, const ConvolutionDescriptions& descriptions,
          OnednnWeights& weights);

  // With what is left of the scratch space.
  void backward_weights(const BackwardPass& pass, std::span<float> space);
  void backward_data(std::span<float> input_gradient, std::span<float> space);

  ConvolutionGeometry geometry_;
  const OnednnWeights& weights_;
  OnednnWeights::Ordered& forward_weights_;
  OnednnWeights::Ordered& backward_weights_;
  ReorderedValues input_, output_;  // or their gradients
  memory weight_gradient_, plain_gradient_, bias_;
  std::size_t gradient_floats_;  // as the kernel writes them, and up to the next cache line
  Call<dnnl::convolution_forward> forward_;
  Call<dnnl::convolution_backward_data> backward_data_;
  // None where weight_gradient_3x3() is faster.
  std::optional<Call<dnnl::convolution_backward_weights>> backward_weights_kernel_;
  dnnl::reorder to_plain_gradient_;
};

Kernels::Kernels(const ConvolutionGeometry& geometry, const ConvolutionDescriptions& d,
                 OnednnWeights& weights)
    : geometry_(geometry),
      weights_(weights),
      forward_weights_(weights.in_order(d.plain_weights, d.forward.weights_desc())),
      backward_weights_(weights.in_order(d.plain_weights, d.backward_data.weights_desc())),
      input_(d.network_input, d.input),
      output_(d.network_output, d.output),
      weight_gradient_(unattached(d.weight_gradient)),
      plain_gradient_(unattached(d.plain_weights)),
      bias_(d.bias.is_zero() ? memory() : unattached(d.bias)),
      gradient_floats_(whole_lines(float_count(d.weight_gradient))),
      forward_(d.forward, {{DNNL_ARG_SRC, input_.object()},
                           {DNNL_ARG_WEIGHTS, forward_weights_.object()},
                           {DNNL_ARG_DST, output_.object()}}),
      backward_data_(d.backward_data, {{DNNL_ARG_DIFF_DST, output_.object()},
                                       {DNNL_ARG_WEIGHTS, backward_weights_.object()},
                                       {DNNL_ARG_DIFF_SRC, input_.object()}}),
      to_plain_gradient_(weight_gradient_, plain_gradient_) {
  if (!d.has_own_weight_gradient) {
    backward_weights_kernel_.emplace(d.backward_weights,
                                     Arguments{{DNNL_ARG_SRC, input_.object()},
                                               {DNNL_ARG_DIFF_DST, output_.object()},
                                               {DNNL_ARG_DIFF_WEIGHTS, weight_gradient_}});
  }
  if (bias_) forward_.arguments.emplace(DNNL_ARG_BIAS, bias_);
}

void Kernels::forward(std::span<const float> input, std::span<const float> bias,
                      std::span<float> output) {
  weights_.bring_to(forward_weights_);
  if (!bias.empty()) point_at(bias_, bias);
  std::span<float> space =
      onednn_scratch(input_.floats() + output_.floats() + forward_.scratch_floats);
  input_.read(input, space);
  output_.write(output, space);
  forward_.run(space);
  output_.finish_write();
}

void Kernels::backward(const BackwardPass& pass) {
  const std::size_t for_weights =
      gradient_floats_ + (backward_weights_kernel_ ? backward_weights_kernel_->scratch_floats
                                                   : weight_gradient_3x3_scratch_floats(geometry_));
  std::span<float> space = onednn_scratch(output_.floats() + input_.floats() +
                                          std::max(for_weights, backward_data_.scratch_floats));
  output_.read(pass.output_gradient, space);
  backward_weights(pass, space);
  if (pass.input_gradient.empty()) return;
  pass.tell_tensors_are_final();
  backward_data(pass.input_gradient, space);
}

void Kernels::backward_weights(const BackwardPass& pass, std::span<float> space) {
  const std::span<float> gradient = space.first(gradient_floats_);
  space = space.subspan(gradient_floats_);
  point_at(weight_gradient_, gradient);
  if (backward_weights_kernel_) {
    input_.read(pass.input, space);
    backward_weights_kernel_->run(space);
  } else {
    weight_gradient_3x3(geometry_, pass.input, pass.output_gradient, space, gradient);
  }
  point_at(plain_gradient_, pass.tensor_gradients[0]);
  to_plain_gradient_.execute(cpu_stream(), weight_gradient_, plain_gradient_);
}

void Kernels::backward_data(std::span<float> input_gradient, std::span<float> space) {
  weights_.bring_to(backward_weights_);
  input_.write(input_gradient, space);
  backward_data_.run(space);
  input_.finish_write();
}

constexpr std::size_t sizes_kept = 8;

class OnednnConvolution final : public Convolution {
 public:
  OnednnConvolution(const ConvolutionGeometry& geometry, Backend backend)
      : Convolution(geometry), backend_(backend), bias_(ChannelLanes(output_shape())) {}

  void use_parameters(ConstTensors tensors) override {
    weights_.use(tensors[0]);
    if (geometry().has_bias) bias_values_ = tensors[1];
  }
  void forward(const ForwardPass& pass) override {
    kernels_for(samples(pass.input)).forward(pass.input, bias_values_, pass.output);
  }
  void backward(const BackwardPass& pass) override;

 private:
  Kernels& kernels_for(std::size_t samples);

  Backend backend_;
  Bias bias_;
  OnednnWeights weights_;
  std::span<const float> bias_values_;
  RecentlyUsed<std::size_t, std::unique_ptr<Kernels>> kernels_{sizes_kept};
};

Kernels& OnednnConvolution::kernels_for(std::size_t samples) {
  return *kernels_.get(samples, [this](std::size_t size) {
    return std::make_unique<Kernels>(geometry(), size, backend_, weights_);
  });
}

void OnednnConvolution::backward(const BackwardPass& pass) {
  Kernels& kernels = kernels_for(samples(pass.input));
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  if (geometry().has_bias) bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  kernels.backward(pass);
}

}  // namespace

std::unique_ptr<Layer> make_onednn_convolution(const ConvolutionGeometry& geometry,
                                               Backend backend) {
  return std::make_unique<OnednnConvolution>(geometry, backend);
}

}  // namespace rubato::nn
