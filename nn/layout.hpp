// The flat layout of a model: every tensor's place in one buffer.
//
// All parameters lie tensor by tensor in one buffer, each tensor aligned to 64 bytes (16 floats),
// followed by the buffers (BatchNorm's running statistics) in the same manner. Shapes and names are
// PyTorch's ([out,in], [out,in,kh,kw]; layer.weight, layer.bias, layer.running_mean,
// layer.running_var): canonical, never a kernel's preferred layout.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato::nn {

struct TensorInfo {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;  // elements, a multiple of 16
  std::size_t size = 0;    // elements, without padding
  // false: a running statistic, set from minibatch statistics and not by the optimizer
  bool is_parameter = true;
  double momentum = 0;  // running statistics only: weight a of a new minibatch, z <- (1-a) z + a s
};

class Layout {
 public:
  // Appends a tensor. All parameters come before the first running statistic (throws
  // std::logic_error otherwise). Returns its index.
  std::size_t add_parameter(std::string name, std::vector<std::size_t> shape);
  std::size_t add_running_statistic(std::string name, std::vector<std::size_t> shape,
                                    double momentum);

  const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  std::vector<std::string> parameter_names() const;  // in their order
  // Lengths with padding: of the parameters' part, and of the whole buffer.
  std::size_t parameter_elements() const noexcept { return parameter_elements_; }
  std::size_t total_elements() const noexcept { return total_elements_; }
  std::size_t parameter_count() const noexcept;  // true number of parameters
  // One line per tensor: name, shape, offset. Equal descriptions mean equal layouts.
  std::string description() const;

 private:
  std::vector<TensorInfo> tensors_;
  std::size_t parameter_elements_ = 0;
  std::size_t total_elements_ = 0;
};

}  // namespace rubato::nn
