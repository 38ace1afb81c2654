// See convolution_descriptions.hpp.
#include "nn/convolution_descriptions.hpp"

#include <algorithm>

#include "nn/channel_blocks.hpp"
#include "nn/compute_thread.hpp"
#include "nn/weight_gradient_3x3.hpp"

namespace rubato::nn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr std::size_t favoured_kernel = 3;  // by Winograd's algorithm and in blocks of 8
constexpr std::size_t many_channels = 32;   // for either
constexpr std::size_t tile = 4;             // outputs' height and width in a tile

memory::dim dimension(std::size_t value) { return static_cast<memory::dim>(value); }

memory::desc floats(const memory::dims& shape, Tag tag) {
  return {shape, memory::data_type::f32, tag};
}

Tag tag_of(Order order) {
  if (order == Order::channels_last) return Tag::nhwc;
  return order == Order::blocks_of_8 ? Tag::nChw8c : Tag::nChw16c;
}

memory::desc activations(std::size_t samples, const Shape& shape, Order order) {
  return floats({dimension(samples), dimension(shape.channels), dimension(shape.height),
                 dimension(shape.width)},
                tag_of(order));
}

std::size_t channels_of_block(Order order) { return Shape{.order = order}.adjacent_channels(); }

bool fill_blocks(Order order, const ConvolutionGeometry& geometry) {
  const std::size_t block = channels_of_block(order);
  return geometry.input.channels % block == 0 && geometry.outputs % block == 0;
}

// What the network has, called as the kernels call theirs where that is the same: one block.
memory::desc networks_activations(std::size_t samples, const Shape& shape, Order kernels_order) {
  const bool lie_the_same = shape.adjacent_channels() == shape.channels &&
                            shape.channels == channels_of_block(kernels_order);
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

bool has_many_channels(const ConvolutionGeometry& geometry) {
  return std::min(geometry.input.channels, geometry.outputs) >= many_channels;
}

// Into blocks of 8 and back. Measured with oneDNN 2.6.3 on an AMD EPYC (layers_bench has some of
// the shapes, channels last by onednn-direct): with fewer channels, other kernels and smaller
// images copies take what is gained, or more.
bool copies_pay(const ConvolutionGeometry& geometry) {
  constexpr std::size_t least_pixels = 16;
  return has_avx2_alone() && geometry.kernel == favoured_kernel && has_many_channels(geometry) &&
         geometry.output().pixels() >= least_pixels;
}

// The network's blocks, of which it has one kind, or those that pay.
Order direct_order(const ConvolutionGeometry& geometry, Backend backend) {
  Order order = std::max(geometry.input.order, geometry.output_order);
  if (!geometry.has_blocks() && backend == Backend::onednn && copies_pay(geometry)) {
    order = Order::blocks_of_8;
  }
  // oneDNN has no such kernel for a lower image but one that takes seconds.
  const bool is_too_low = order == Order::blocks_of_8 && geometry.input.height < geometry.kernel;
  return fill_blocks(order, geometry) && !is_too_low ? order : Order::channels_last;
}

}  // namespace

// Measured with oneDNN 2.6.3 on an AMD EPYC (layers_bench has some of the shapes): with 16 channels
// the transformations take what the products save, so do those of the weights where there are few
// tiles, and tiles that reach beyond the image are computed for nothing.
bool winograd_pays(const ConvolutionGeometry& geometry, std::size_t samples) {
  if (geometry.kernel != favoured_kernel || geometry.stride != 1 || geometry.padding > 1) {
    return false;
  }
  if (!has_many_channels(geometry) || !fill_blocks(Order::blocks_of_16, geometry)) return false;
  constexpr std::size_t least_tiles = 16;
  const Shape out = geometry.output();
  const std::size_t tiles = tiles_over(out.height) * tiles_over(out.width);
  return samples * tiles >= least_tiles && 3 * out.pixels() >= 2 * tiles * tile * tile;
}

Order best_onednn_order(const Shape& shape) {
  constexpr std::size_t usual_samples = 32;
  const ConvolutionGeometry among_them{
      .name = {}, .input = shape, .outputs = shape.channels, .kernel = 3, .padding = 1};
  hold_to_one_thread();  // as the layers will compute
  Shape ordered = shape;
  ordered.order = ConvolutionDescriptions(among_them, usual_samples, Backend::onednn).order;
  // With a row that is filled in part BatchNorm would be slower.
  const bool fills_rows_of_lanes =
      ordered.adjacent_channels() * shape.pixels() % ChannelLanes(ordered).of_row() == 0;
  return fills_rows_of_lanes ? ordered.order : Order::channels_last;
}

ConvolutionDescriptions::ConvolutionDescriptions(const ConvolutionGeometry& geometry,
                                                 std::size_t samples, Backend backend) {
  const memory::dim k = dimension(geometry.kernel);
  const memory::dim outputs = dimension(geometry.outputs);
  plain_weights = floats({outputs, dimension(geometry.input.channels), k, k}, Tag::oihw);
  if (geometry.has_bias) bias = floats({outputs}, Tag::a);

  is_winograd =
      backend == Backend::onednn && winograd_pays(geometry, samples) &&
      choose(dnnl::algorithm::convolution_winograd, Order::blocks_of_16, geometry, samples);
  if (!is_winograd) {
    choose(dnnl::algorithm::convolution_direct, direct_order(geometry, backend), geometry, samples);
    has_own_weight_gradient =
        backend == Backend::onednn && has_avx2_alone() && has_weight_gradient_3x3(geometry);
  }
  weight_gradient = has_own_weight_gradient ? floats(plain_weights.dims(), Tag::OIhw8i8o)
                                            : backward_weights.diff_weights_desc();
}

bool ConvolutionDescriptions::choose(dnnl::algorithm algorithm, Order its_order,
                                     const ConvolutionGeometry& geometry, std::size_t samples) {
  order = its_order;
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
