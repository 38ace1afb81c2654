// Convolution by oneDNN, activations channels-last, weights in whatever order its kernels like
// best.
//
// Kernels are made for one minibatch size; those of the eight sizes used last are kept (a run has
// few: the minibatch, short last ones, the evaluation's). The weights are put into the kernels'
// order once per update, their gradient out of it once per minibatch. Kernel scratch is ours:
// aligned, and of a size known when the kernels are made.
#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <unordered_map>

#include "nn/aligned_buffer.hpp"
#include "nn/bias.hpp"
#include "nn/convolution.hpp"
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

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& cpu_stream() {
  static dnnl::stream stream(cpu_engine());
  return stream;
}

// oneDNN's memory objects take pointers to non-const, also for what they only read.
void point_at(memory& object, std::span<const float> values) {
  object.set_data_handle(const_cast<float*>(values.data()));
}

memory unattached(const memory::desc& description) { return {description, cpu_engine(), nullptr}; }

std::size_t float_count(const memory::desc& description) {
  return (description.get_size() + sizeof(float) - 1) / sizeof(float);
}

// Memory of our own in a layout that the kernels chose.
struct OwnedMemory {
  explicit OwnedMemory(const memory::desc& description) : object(unattached(description)) {
    object.set_data_handle(buffer.first(float_count(description)).data());
  }
  AlignedBuffer<float> buffer;
  memory object;
};

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
  Kernels(const ConvolutionGeometry& geometry, std::size_t samples)
      : Kernels(Descriptions(geometry, samples)) {}

  // The weights (and the bias, if any, which is used where it lies) of a new update.
  void use_parameters(std::span<const float> weights, std::span<const float> bias);
  void forward(std::span<const float> input, std::span<float> output);
  void backward_data(std::span<const float> output_gradient, std::span<float> input_gradient);
  void backward_weights(std::span<const float> input, std::span<const float> output_gradient,
                        std::span<float> weight_gradient);

 private:
  explicit Kernels(const Descriptions& descriptions);

  memory input_, output_, input_gradient_, output_gradient_, plain_weights_, bias_;
  OwnedMemory forward_weights_, backward_weights_, weight_gradient_, scratchpad_;
  dnnl::convolution_forward forward_;
  dnnl::convolution_backward_data backward_data_;
  dnnl::convolution_backward_weights backward_weights_kernel_;
  dnnl::reorder to_forward_weights_, to_backward_weights_, to_plain_gradient_;
  Arguments forward_arguments_, backward_data_arguments_, backward_weights_arguments_;
};

// The largest of the three scratchpads serves all of them.
memory::desc largest_scratchpad(const Descriptions& d) {
  memory::desc largest = d.forward.scratchpad_desc();
  for (const memory::desc& other :
       {d.backward_data.scratchpad_desc(), d.backward_weights.scratchpad_desc()}) {
    if (other.get_size() > largest.get_size()) largest = other;
  }
  return largest;
}

memory scratchpad_view(const memory::desc& description, const OwnedMemory& scratchpad) {
  return {description, cpu_engine(), scratchpad.object.get_data_handle()};
}

Kernels::Kernels(const Descriptions& d)
    : input_(unattached(d.input)),
      output_(unattached(d.output)),
      input_gradient_(unattached(d.input)),
      output_gradient_(unattached(d.output)),
      plain_weights_(unattached(d.plain_weights)),
      bias_(d.bias.is_zero() ? memory() : unattached(d.bias)),
      forward_weights_(d.forward.weights_desc()),
      backward_weights_(d.backward_data.weights_desc()),
      weight_gradient_(d.backward_weights.diff_weights_desc()),
      scratchpad_(largest_scratchpad(d)),
      forward_(d.forward),
      backward_data_(d.backward_data),
      backward_weights_kernel_(d.backward_weights),
      to_forward_weights_(plain_weights_, forward_weights_.object),
      to_backward_weights_(plain_weights_, backward_weights_.object),
      to_plain_gradient_(weight_gradient_.object, plain_weights_),
      forward_arguments_{
          {DNNL_ARG_SRC, input_},
          {DNNL_ARG_WEIGHTS, forward_weights_.object},
          {DNNL_ARG_DST, output_},
          {DNNL_ARG_SCRATCHPAD, scratchpad_view(d.forward.scratchpad_desc(), scratchpad_)}},
      backward_data_arguments_{
          {DNNL_ARG_DIFF_DST, output_gradient_},
          {DNNL_ARG_WEIGHTS, backward_weights_.object},
          {DNNL_ARG_DIFF_SRC, input_gradient_},
          {DNNL_ARG_SCRATCHPAD, scratchpad_view(d.backward_data.scratchpad_desc(), scratchpad_)}},
      backward_weights_arguments_{
          {DNNL_ARG_SRC, input_},
          {DNNL_ARG_DIFF_DST, output_gradient_},
          {DNNL_ARG_DIFF_WEIGHTS, weight_gradient_.object},
          {DNNL_ARG_SCRATCHPAD,
           scratchpad_view(d.backward_weights.scratchpad_desc(), scratchpad_)}} {
  if (bias_) forward_arguments_.emplace(DNNL_ARG_BIAS, bias_);
}

void Kernels::use_parameters(std::span<const float> weights, std::span<const float> bias) {
  if (!bias.empty()) point_at(bias_, bias);
  point_at(plain_weights_, weights);
  to_forward_weights_.execute(cpu_stream(), plain_weights_, forward_weights_.object);
  to_backward_weights_.execute(cpu_stream(), plain_weights_, backward_weights_.object);
}

void Kernels::forward(std::span<const float> input, std::span<float> output) {
  point_at(input_, input);
  point_at(output_, output);
  forward_.execute(cpu_stream(), forward_arguments_);
}

void Kernels::backward_data(std::span<const float> output_gradient,
                            std::span<float> input_gradient) {
  point_at(output_gradient_, output_gradient);
  point_at(input_gradient_, input_gradient);
  backward_data_.execute(cpu_stream(), backward_data_arguments_);
}

void Kernels::backward_weights(std::span<const float> input, std::span<const float> output_gradient,
                               std::span<float> weight_gradient) {
  point_at(input_, input);
  point_at(output_gradient_, output_gradient);
  backward_weights_kernel_.execute(cpu_stream(), backward_weights_arguments_);
  point_at(plain_weights_, weight_gradient);
  to_plain_gradient_.execute(cpu_stream(), weight_gradient_.object, plain_weights_);
}

constexpr std::size_t sizes_kept = 8;

class OnednnConvolution final : public Convolution {
 public:
  explicit OnednnConvolution(const ConvolutionGeometry& geometry)
      : Convolution(geometry), bias_(geometry.outputs) {}

  void use_parameters(ConstTensors tensors) override {
    weights_ = tensors[0];
    if (geometry().has_bias) bias_values_ = tensors[1];
    ++generation_;
  }
  void forward(const ForwardPass& pass) override {
    kernels_for(samples(pass.input)).forward(pass.input, pass.output);
  }
  void backward(const BackwardPass& pass) override;

 private:
  struct Prepared {
    std::unique_ptr<Kernels> kernels;
    std::uint64_t generation = 0;  // of the weights they hold
  };
  // The kernels for this minibatch size, holding the weights in use.
  Kernels& kernels_for(std::size_t samples);

  Bias bias_;
  std::span<const float> weights_;
  std::span<const float> bias_values_;
  std::uint64_t generation_ = 0;
  RecentlyUsed<std::size_t, Prepared> prepared_{sizes_kept};
};

Kernels& OnednnConvolution::kernels_for(std::size_t samples) {
  Prepared& prepared = prepared_.get(samples, [this](std::size_t size) {
    return Prepared{std::make_unique<Kernels>(geometry(), size), 0};
  });
  if (prepared.generation != generation_) {
    prepared.kernels->use_parameters(weights_, bias_values_);
    prepared.generation = generation_;
  }
  return *prepared.kernels;
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
