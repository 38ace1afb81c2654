// Convolution by oneDNN, activations channels-last, weights in whatever order its kernels like
// best.
//
// Kernels are made for one minibatch size; those of the eight sizes used last are kept (a run has
// few: the minibatch, short last ones, the evaluation's). The weights are put into an order that
// kernels like once per update, whatever the sizes, and only if they are used in it; their gradient
// is put out of it once per minibatch. Kernel scratch is ours, aligned, and the same memory for all
// convolutions: none needs its content after the call.
#include <memory>
#include <unordered_map>
#include <utility>

#include "nn/bias.hpp"
#include "nn/convolution.hpp"
#include "nn/onednn_weights.hpp"
#include "nn/recently_used.hpp"
#include "nn/relu.hpp"

namespace rubato::nn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

memory::dim dimension(std::size_t value) { return static_cast<memory::dim>(value); }

memory::desc floats(const memory::dims& shape, Tag tag) {
  return {shape, memory::data_type::f32, tag};
}

std::size_t whole_lines(std::size_t floats) {
  constexpr std::size_t line = cache_line_bytes / sizeof(float);
  return (floats + line - 1) / line * line;
}

// Shapes of a convolution at one minibatch size, and oneDNN's descriptions of its three kernels.
struct Descriptions {
  Descriptions(const ConvolutionGeometry& geometry, std::size_t samples);

  memory::desc input, output, plain_weights;
  memory::desc bias;  // empty: none
  dnnl::convolution_forward::primitive_desc forward;
  dnnl::convolution_backward_data::primitive_desc backward_data;
  dnnl::convolution_backward_weights::primitive_desc backward_weights;
};

dnnl::primitive_attr attributes(Activation activation) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (activation == Activation::relu) {
    dnnl::post_ops operations;
    operations.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    attr.set_post_ops(operations);
  }
  return attr;
}

Descriptions::Descriptions(const ConvolutionGeometry& geometry, std::size_t samples) {
  const memory::dim n = dimension(samples);
  const memory::dim k = dimension(geometry.kernel);
  const Shape in = geometry.input;
  const Shape out = geometry.output();
  const memory::dims weight_shape = {dimension(out.channels), dimension(in.channels), k, k};
  input = floats({n, dimension(in.channels), dimension(in.height), dimension(in.width)}, Tag::nhwc);
  output =
      floats({n, dimension(out.channels), dimension(out.height), dimension(out.width)}, Tag::nhwc);
  plain_weights = floats(weight_shape, Tag::oihw);
  if (geometry.has_bias) bias = floats({dimension(out.channels)}, Tag::a);

  const memory::desc any_weights = floats(weight_shape, Tag::any);
  const memory::dims stride = {dimension(geometry.stride), dimension(geometry.stride)};
  const memory::dims padding = {dimension(geometry.padding), dimension(geometry.padding)};
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr plain = attributes(Activation::none);
  forward = {{dnnl::prop_kind::forward_training, direct, input, any_weights, bias, output, stride,
              padding, padding},
             attributes(geometry.activation),
             cpu_engine()};
  backward_data = {
      {direct, input, any_weights, output, stride, padding, padding}, plain, cpu_engine(), forward};
  backward_weights = {
      {direct, input, any_weights, output, stride, padding, padding}, plain, cpu_engine(), forward};
}

// Everything needed to compute at one minibatch size.
class Kernels {
 public:
  // `weights` are the layer's, and outlive this.
  Kernels(const ConvolutionGeometry& geometry, std::size_t samples, OnednnWeights& weights)
      : Kernels(Descriptions(geometry, samples), weights) {}

  // `bias` is empty if there is none.
  void forward(std::span<const float> input, std::span<const float> bias, std::span<float> output);
  void backward_data(std::span<const float> output_gradient, std::span<float> input_gradient);
  void backward_weights(std::span<const float> input, std::span<const float> output_gradient,
                        std::span<float> weight_gradient);

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
      point_at(scratchpad, space);
      kernel.execute(cpu_stream(), arguments);
    }
    Kernel kernel;
    memory scratchpad;
    std::size_t scratch_floats;
    Arguments arguments;
  };

  Kernels(const Descriptions& descriptions, OnednnWeights& weights);

  const OnednnWeights& weights_;
  OnednnWeights::Ordered& forward_weights_;
  OnednnWeights::Ordered& backward_weights_;
  memory input_, output_, input_gradient_, output_gradient_, weight_gradient_, plain_gradient_,
      bias_;
  std::size_t gradient_floats_;  // as the kernel writes them, and up to the next cache line
  Call<dnnl::convolution_forward> forward_;
  Call<dnnl::convolution_backward_data> backward_data_;
  Call<dnnl::convolution_backward_weights> backward_weights_kernel_;
  dnnl::reorder to_plain_gradient_;
};

Kernels::Kernels(const Descriptions& d, OnednnWeights& weights)
    : weights_(weights),
      forward_weights_(weights.in_order(d.plain_weights, d.forward.weights_desc())),
      backward_weights_(weights.in_order(d.plain_weights, d.backward_data.weights_desc())),
      input_(unattached(d.input)),
      output_(unattached(d.output)),
      input_gradient_(unattached(d.input)),
      output_gradient_(unattached(d.output)),
      weight_gradient_(unattached(d.backward_weights.diff_weights_desc())),
      plain_gradient_(unattached(d.plain_weights)),
      bias_(d.bias.is_zero() ? memory() : unattached(d.bias)),
      gradient_floats_(whole_lines(float_count(d.backward_weights.diff_weights_desc()))),
      forward_(d.forward, {{DNNL_ARG_SRC, input_},
                           {DNNL_ARG_WEIGHTS, forward_weights_.object()},
                           {DNNL_ARG_DST, output_}}),
      backward_data_(d.backward_data, {{DNNL_ARG_DIFF_DST, output_gradient_},
                                       {DNNL_ARG_WEIGHTS, backward_weights_.object()},
                                       {DNNL_ARG_DIFF_SRC, input_gradient_}}),
      backward_weights_kernel_(d.backward_weights, {{DNNL_ARG_SRC, input_},
                                                    {DNNL_ARG_DIFF_DST, output_gradient_},
                                                    {DNNL_ARG_DIFF_WEIGHTS, weight_gradient_}}),
      to_plain_gradient_(weight_gradient_, plain_gradient_) {
  if (bias_) forward_.arguments.emplace(DNNL_ARG_BIAS, bias_);
}

void Kernels::forward(std::span<const float> input, std::span<const float> bias,
                      std::span<float> output) {
  weights_.bring_to(forward_weights_);
  if (!bias.empty()) point_at(bias_, bias);
  point_at(input_, input);
  point_at(output_, output);
  forward_.run(onednn_scratch(forward_.scratch_floats));
}

void Kernels::backward_data(std::span<const float> output_gradient,
                            std::span<float> input_gradient) {
  weights_.bring_to(backward_weights_);
  point_at(output_gradient_, output_gradient);
  point_at(input_gradient_, input_gradient);
  backward_data_.run(onednn_scratch(backward_data_.scratch_floats));
}

void Kernels::backward_weights(std::span<const float> input, std::span<const float> output_gradient,
                               std::span<float> weight_gradient) {
  const std::span<float> space =
      onednn_scratch(gradient_floats_ + backward_weights_kernel_.scratch_floats);
  point_at(weight_gradient_, space);
  point_at(input_, input);
  point_at(output_gradient_, output_gradient);
  backward_weights_kernel_.run(space.subspan(gradient_floats_));
  point_at(plain_gradient_, weight_gradient);
  to_plain_gradient_.execute(cpu_stream(), weight_gradient_, plain_gradient_);
}

constexpr std::size_t sizes_kept = 8;

class OnednnConvolution final : public Convolution {
 public:
  explicit OnednnConvolution(const ConvolutionGeometry& geometry)
      : Convolution(geometry), bias_(geometry.outputs) {}

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

  Bias bias_;
  OnednnWeights weights_;
  std::span<const float> bias_values_;
  RecentlyUsed<std::size_t, std::unique_ptr<Kernels>> kernels_{sizes_kept};
};

Kernels& OnednnConvolution::kernels_for(std::size_t samples) {
  return *kernels_.get(samples, [this](std::size_t size) {
    return std::make_unique<Kernels>(geometry(), size, weights_);
  });
}

void OnednnConvolution::backward(const BackwardPass& pass) {
  Kernels& kernels = kernels_for(samples(pass.input));
  if (geometry().activation == Activation::relu) relu_backward(pass.output, pass.output_gradient);
  if (geometry().has_bias) bias_.gradient(pass.output_gradient, pass.tensor_gradients[1]);
  kernels.backward_weights(pass.input, pass.output_gradient, pass.tensor_gradients[0]);
  if (pass.input_gradient.empty()) return;
  kernels.backward_data(pass.output_gradient, pass.input_gradient);
}

}  // namespace

std::unique_ptr<Layer> make_onednn_convolution(const ConvolutionGeometry& geometry) {
  return std::make_unique<OnednnConvolution>(geometry);
}

}  // namespace rubato::nn
