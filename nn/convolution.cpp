// What every convolution has, and the choice between the backends.
#include "nn/convolution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rubato::nn {
namespace {

ConvolutionGeometry checked(ConvolutionGeometry geometry) {
  const Shape& input = geometry.input;
  if (std::min(input.height, input.width) + 2 * geometry.padding < geometry.kernel) {
    throw std::invalid_argument(
        "layer " + geometry.name + ": its " + std::to_string(geometry.kernel) + "x" +
        std::to_string(geometry.kernel) + " kernel does not fit into an input of " +
        std::to_string(input.height) + "x" + std::to_string(input.width) +
        " pixels; use larger images or a model without convolutions");
  }
  return geometry;
}

std::unique_ptr<Layer> make_library_convolution(const ConvolutionGeometry& geometry,
                                                [[maybe_unused]] Backend backend) {
#ifdef RUBATO_HAS_ONEDNN
  if (backend != Backend::eigen) return make_onednn_convolution(geometry, backend);
#endif
  if (geometry.has_blocks()) {
    throw std::invalid_argument("layer " + geometry.name +
                                ": channels in blocks are for oneDNN's convolutions alone");
  }
  return make_eigen_convolution(geometry);
}

}  // namespace

Convolution::Convolution(ConvolutionGeometry geometry)
    : Layer(geometry.input, checked(geometry).output()), geometry_(std::move(geometry)) {}

std::vector<TensorSpec> Convolution::tensors() const {
  const std::vector<std::size_t> shape = {geometry_.outputs, geometry_.input.channels,
                                          geometry_.kernel, geometry_.kernel};
  if (!geometry_.has_bias) {
    // He et al., arXiv 1502.01852, section 2.2, backward case: normal, variance 2 / fan out, as
    // torchvision's residual networks do (kaiming_normal_, mode "fan_out").
    const std::size_t fan_out = geometry_.kernel * geometry_.kernel * geometry_.outputs;
    TensorSpec weight{geometry_.name + ".weight", shape};
    weight.deviation = std::sqrt(2.0 / static_cast<double>(fan_out));
    return {weight};
  }
  // PyTorch's default for Conv2d: uniform with bound 1/sqrt(fan in), weight and bias alike.
  const double bound = 1.0 / std::sqrt(static_cast<double>(geometry_.patch_elements()));
  return {{geometry_.name + ".weight", shape, -bound, bound},
          {geometry_.name + ".bias", {geometry_.outputs}, -bound, bound}};
}

float Convolution::lowest_output() const noexcept {
  return geometry_.activation == Activation::relu ? 0.0F : -std::numeric_limits<float>::infinity();
}

std::unique_ptr<Layer> make_convolution(const ConvolutionGeometry& geometry, Backend backend) {
  const bool may_take_own_passes = backend != Backend::onednn_direct;
  if (may_take_own_passes && has_one_channel_passes(geometry)) {
    return make_one_channel_convolution(geometry);
  }
  std::unique_ptr<Layer> layer = make_library_convolution(geometry, backend);
  if (may_take_own_passes && has_few_channel_passes(geometry)) {
    return make_few_channel_convolution(geometry, std::move(layer));
  }
  return layer;
}

Order best_order([[maybe_unused]] const Shape& shape, [[maybe_unused]] Backend backend) {
#ifdef RUBATO_HAS_ONEDNN
  if (backend == Backend::onednn) return best_onednn_order(shape);
#endif
  return Order::channels_last;
}

}  // namespace rubato::nn
