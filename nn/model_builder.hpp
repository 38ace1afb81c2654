// Puts layers one behind the other, each taking what the one before yields; a point along the way
// can be remembered, to branch off from it or to join it again.
//
// Every call throws std::invalid_argument where its layer does not fit.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nn/backend.hpp"
#include "nn/batch_norm.hpp"
#include "nn/convolution.hpp"
#include "nn/layer.hpp"
#include "nn/sequential.hpp"

namespace rubato::nn {

class ModelBuilder {
 public:
  // What a layer yields.
  struct Point {
    std::size_t layer;
    Shape shape;
  };

  ModelBuilder(Shape input, Backend backend);

  // From here on convolutions yield channels in blocks where that spares copies; only convolutions,
  // BatchNorm, the average pool and the max-pool of 2x2 take them.
  void allow_blocks() { may_use_blocks_ = true; }

  void convolution(const std::string& name, std::size_t outputs, std::size_t kernel,
                   Activation activation = Activation::none);
  // Without bias; padding keeps the size (divided by the stride, rounded up).
  void padded_convolution(const std::string& name, std::size_t outputs, std::size_t kernel,
                          std::size_t stride);
  void max_pool(const std::string& name, Activation activation);
  void overlapping_max_pool();
  void average_pool();
  void batch_norm(const std::string& name, Ending ending = Ending::none);
  // BatchNorm, then the sum with another point of the same shape, then ReLU.
  void batch_norm_joining(const std::string& name, const Point& other);
  void dropout(double probability);  // 0: none
  void flatten();                    // nothing where the order is PyTorch's already
  void dense(const std::string& name, std::size_t outputs, Activation activation);

  const Point& here() const noexcept { return here_; }
  void go_back_to(const Point& point) { here_ = point; }
  std::unique_ptr<Model> finish();

 private:
  void add(std::unique_ptr<Layer> layer, std::size_t addend = absent);
  void add_convolution(ConvolutionGeometry geometry);
  // Where we are, for a layer that knows no blocks of channels.
  const Shape& without_blocks(const std::string& taker) const;

  Point here_;
  Backend backend_;
  bool may_use_blocks_ = false;
  std::vector<Link> links_;
};

}  // namespace rubato::nn
