// See convolution_descriptions.hpp.
#include "nn/convolution_descriptions.hpp"

#include "nn/compute_thread.hpp"

namespace rubato::nn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::size_t winograd_kernel = 3;
constexpr std::size_t tile = 4;  // outputs' height and width in a tile

memory::dim dimension(std::size_t value) { return static_cast<memory::dim>(value); }

memory::desc floats(const memory::dims& shape, Tag tag) {
  return {shape, memory::data_type::f32, tag};
}

memory::desc activations(std::size_t samples, const Shape& shape, Order order) {
  return floats({dimension(samples), dimension(shape.channels), dimension(shape.height),
                 dimension(shape.width)},
                order == Order::blocks_of_16 ? Tag::nChw16c : Tag::nhwc);
}

// What the network has, called as the kernels call theirs where that is the same.
memory::desc networks_activations(std::size_t samples, const Shape& shape, Order kernels_order) {
  const bool lie_the_same = shape.channels == channels_of_block;
  return activations(samples, shape, lie_the_same ? kernels_order : shape.order);
}

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

std::size_t tiles_over(std::size_t pixels) { return (pixels + tile - 1) / tile; }

bool suits_winograd(std::size_t channels) {
  constexpr std::size_t least = 32;
  return channels >= least && channels % channels_of_block == 0;
}

}  // namespace

// Measured with oneDNN 2.6.3 on an AMD EPYC (layers_bench has some of the shapes): with 16 channels
// the transformations take what the products save, so do those of the weights where there are few
// tiles, and tiles that reach beyond the image are computed for nothing.
bool winograd_pays(const ConvolutionGeometry& geometry, std::size_t samples) {
  if (geometry.kernel != winograd_kernel || geometry.stride != 1 || geometry.padding > 1) {
    return false;
  }
  if (!suits_winograd(geometry.input.channels) || !suits_winograd(geometry.outputs)) return false;
  constexpr std::size_t least_tiles = 16;
  const Shape out = geometry.output();
  const std::size_t tiles = tiles_over(out.height) * tiles_over(out.width);
  return samples * tiles >= least_tiles && 3 * out.pixels() >= 2 * tiles * tile * tile;
}

Order best_onednn_order(const Shape& shape) {
  const bool fills_rows_of_lanes = shape.pixels() % 2 == 0;  // as BatchNorm walks through blocks
  constexpr std::size_t usual_samples = 32;
  const ConvolutionGeometry among_them{
      .name = {}, .input = shape, .outputs = shape.channels, .kernel = 3, .padding = 1};
  if (!fills_rows_of_lanes || !winograd_pays(among_them, usual_samples)) {
    return Order::channels_last;
  }
  hold_to_one_thread();  // as the layers will compute
  const ConvolutionDescriptions chosen(among_them, usual_samples, Backend::onednn);
  return chosen.is_winograd ? Order::blocks_of_16 : Order::channels_last;
}

ConvolutionDescriptions::ConvolutionDescriptions(const ConvolutionGeometry& geometry,
                                                 std::size_t samples, Backend backend) {
  const memory::dim k = dimension(geometry.kernel);
  const memory::dim outputs = dimension(geometry.outputs);
  plain_weights = floats({outputs, dimension(geometry.input.channels), k, k}, Tag::oihw);
  if (geometry.has_bias) bias = floats({outputs}, Tag::a);

  const Order in_blocks = Order::blocks_of_16;
  is_winograd = backend == Backend::onednn && winograd_pays(geometry, samples) &&
                choose(dnnl::algorithm::convolution_winograd, in_blocks, geometry, samples);
  if (is_winograd) return;
  const bool may_have_blocks =
      geometry.input.channels % channels_of_block == 0 && geometry.outputs % channels_of_block == 0;
  choose(dnnl::algorithm::convolution_direct,
         geometry.has_blocks() && may_have_blocks ? in_blocks : Order::channels_last, geometry,
         samples);
}

bool ConvolutionDescriptions::choose(dnnl::algorithm algorithm, Order order,
                                     const ConvolutionGeometry& geometry, std::size_t samples) {
  input = activations(samples, geometry.input, order);
  output = activations(samples, geometry.output(), order);
  network_input = networks_activations(samples, geometry.input, order);
  network_output = networks_activations(samples, geometry.output(), order);
  const bool may_be_empty = algorithm == dnnl::algorithm::convolution_winograd;
  const memory::desc weights = floats(plain_weights.dims(), Tag::any);
  const memory::dims stride(2, dimension(geometry.stride));
  const memory::dims padding(2, dimension(geometry.padding));
  const dnnl::primitive_attr plain = attributes(Activation::none);
  forward = {{dnnl::prop_kind::forward_training, algorithm, input, weights, bias, output, stride,
              padding, padding},
             attributes(geometry.activation),
             cpu_engine(),
             may_be_empty};
  if (!forward) return false;
  backward_data = {{algorithm, input, weights, output, stride, padding, padding},
                   plain,
                   cpu_engine(),
                   forward,
                   may_be_empty};
  backward_weights = {{algorithm, input, weights, output, stride, padding, padding},
                      plain,
                      cpu_engine(),
                      forward,
                      may_be_empty};
  return backward_data && backward_weights;
}

}  // namespace rubato::nn
