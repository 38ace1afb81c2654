// One call, one layer.
#include "nn/model_builder.hpp"

#include <stdexcept>
#include <utility>

#include "nn/average_pool.hpp"
#include "nn/dense.hpp"
#include "nn/dropout.hpp"
#include "nn/flatten.hpp"
#include "nn/max_pool.hpp"
#include "nn/overlapping_max_pool.hpp"

namespace rubato::nn {

ModelBuilder::ModelBuilder(Shape input, Backend backend)
    : here_{absent, input}, backend_(backend) {}

void ModelBuilder::add(std::unique_ptr<Layer> layer, std::size_t addend) {
  const Shape output = layer->output_shape();
  links_.push_back({std::move(layer), here_.layer, addend});
  here_ = {links_.size() - 1, output};
}

const Shape& ModelBuilder::without_blocks(const std::string& taker) const {
  if (here_.shape.order != Order::channels_last) {
    throw std::invalid_argument("layer " + taker + ": it does not take channels in blocks");
  }
  return here_.shape;
}

void ModelBuilder::convolution(const std::string& name, std::size_t outputs, std::size_t kernel,
                               Activation activation) {
  add_convolution({name, here_.shape, outputs, kernel, activation});
}

void ModelBuilder::padded_convolution(const std::string& name, std::size_t outputs,
                                      std::size_t kernel, std::size_t stride) {
  ConvolutionGeometry geometry{name, here_.shape, outputs, kernel};
  geometry.stride = stride;
  geometry.padding = kernel / 2;
  geometry.has_bias = false;
  add_convolution(std::move(geometry));
}

void ModelBuilder::add_convolution(ConvolutionGeometry geometry) {
  if (may_use_blocks_) geometry.output_order = best_order(geometry.output(), backend_);
  add(make_convolution(geometry, backend_));
}

void ModelBuilder::max_pool(const std::string& name, Activation activation) {
  add(std::make_unique<MaxPool>(name, here_.shape, activation));
}

void ModelBuilder::overlapping_max_pool() {
  add(std::make_unique<OverlappingMaxPool>(without_blocks("maxpool")));
}

void ModelBuilder::average_pool() { add(std::make_unique<AveragePool>(here_.shape)); }

void ModelBuilder::batch_norm(const std::string& name, Ending ending) {
  add(std::make_unique<BatchNorm>(name, here_.shape, ending));
}

void ModelBuilder::batch_norm_joining(const std::string& name, const Point& other) {
  if (!(other.shape == here_.shape)) {
    throw std::invalid_argument("layer " + name + ": the two branches differ in shape");
  }
  add(std::make_unique<BatchNorm>(name, here_.shape, Ending::addend_and_relu), other.layer);
}

void ModelBuilder::dropout(double probability) {
  if (probability == 0) return;
  const auto number = static_cast<std::uint32_t>(links_.size());
  add(std::make_unique<Dropout>(without_blocks("dropout"), probability, number));
}

void ModelBuilder::flatten() {
  if (here_.shape.channels == 1 || here_.shape.pixels() == 1) return;
  add(std::make_unique<Flatten>(without_blocks("flatten")));
}

void ModelBuilder::dense(const std::string& name, std::size_t outputs, Activation activation) {
  add(std::make_unique<Dense>(name, without_blocks(name), outputs, activation, backend_));
}

std::unique_ptr<Model> ModelBuilder::finish() {
  return std::make_unique<Sequential>(std::move(links_));
}

}  // namespace rubato::nn
