// A two-dimensional convolution; weight [outputs, inputs, kernel, kernel] as in PyTorch's Conv2d.
//
// The backends share what is here: geometry, tensors and their initial values. Each computes
// with its own private copy of the weights, in the order that suits its kernels.
#pragma once

#include <memory>

#include "nn/backend.hpp"
#include "nn/layer.hpp"

namespace rubato::nn {

struct ConvolutionGeometry {
  std::string name;
  Shape input;
  std::size_t outputs = 1;  // channels
  std::size_t kernel = 1;   // height and width
  Activation activation = Activation::none;
  std::size_t stride = 1;
  std::size_t padding = 0;  // zeros on all four sides, fewer than the kernel's size
  // Without a bias (a BatchNorm behind would take it away again) initial weights are He's.
  bool has_bias = true;
  Order output_order = Order::channels_last;  // here and in the input, blocks with oneDNN alone

  Shape output() const noexcept {
    return {extent(input.height), extent(input.width), outputs, output_order};
  }
  std::size_t extent(std::size_t pixels) const noexcept {
    return (pixels + 2 * padding - kernel) / stride + 1;
  }
  bool has_blocks() const noexcept {
    return input.order != Order::channels_last || output_order != Order::channels_last;
  }
  std::size_t patch_elements() const noexcept { return kernel * kernel * input.channels; }
};

class Convolution : public Layer {
 public:
  // Throws std::invalid_argument where the kernel is larger than the input.
  explicit Convolution(ConvolutionGeometry geometry);

  std::vector<TensorSpec> tensors() const override;

 protected:
  const ConvolutionGeometry& geometry() const noexcept { return geometry_; }
  // What the activation raises outputs to that are below; minus infinity where there is none.
  float lowest_output() const noexcept;

 private:
  ConvolutionGeometry geometry_;
};

std::unique_ptr<Layer> make_convolution(const ConvolutionGeometry& geometry, Backend backend);
// In which order values of this shape spare 3x3 convolutions between them copies.
Order best_order(const Shape& shape, Backend backend);
// With passes of our own, for kernels of 3x3 and 5x5 on images of one channel without padding; the
// input's gradient is not made to be fast. Throws std::invalid_argument for other shapes.
bool has_one_channel_passes(const ConvolutionGeometry& geometry);
std::unique_ptr<Layer> make_one_channel_convolution(const ConvolutionGeometry& geometry);
// With passes of our own, for kernels of 5x5 without padding from two to twenty channels to at most
// twenty, unless both are multiples of 16. Minibatches that would leave many lanes empty are left
// to `for_empty_lanes`, a layer of the same geometry. Throws std::invalid_argument for other
// shapes.
bool has_few_channel_passes(const ConvolutionGeometry& geometry);
std::unique_ptr<Layer> make_few_channel_convolution(const ConvolutionGeometry& geometry,
                                                    std::unique_ptr<Layer> for_empty_lanes);
std::unique_ptr<Layer> make_eigen_convolution(const ConvolutionGeometry& geometry);
// best_order() with the backend onednn.
Order best_onednn_order(const Shape& shape);
// `backend`: onednn or onednn_direct.
std::unique_ptr<Layer> make_onednn_convolution(const ConvolutionGeometry& geometry,
                                               Backend backend);

}  // namespace rubato::nn
