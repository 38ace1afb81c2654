// Placement of tensors in the flat buffer: one after the other, each rounded up to whole cache
// lines.
#include "nn/layout.hpp"

#include <functional>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "nn/aligned_buffer.hpp"

namespace rubato::nn {
namespace {

std::size_t element_count(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

std::size_t Layout::add_parameter(std::string name, std::vector<std::size_t> shape) {
  if (parameter_elements_ != total_elements_) {
    throw std::logic_error("parameter " + name +
                           " added after a running statistic; all parameters come first");
  }
  const std::size_t size = element_count(shape);
  tensors_.push_back({std::move(name), std::move(shape), total_elements_, size, true, 0});
  total_elements_ += whole_lines(size);
  parameter_elements_ = total_elements_;
  return tensors_.size() - 1;
}

std::size_t Layout::add_running_statistic(std::string name, std::vector<std::size_t> shape,
                                          double momentum) {
  const std::size_t size = element_count(shape);
  tensors_.push_back({std::move(name), std::move(shape), total_elements_, size, false, momentum});
  total_elements_ += whole_lines(size);
  return tensors_.size() - 1;
}

std::vector<std::string> Layout::parameter_names() const {
  std::vector<std::string> names;
  for (const TensorInfo& tensor : tensors_) {
    if (tensor.is_parameter) names.push_back(tensor.name);
  }
  return names;
}

std::size_t Layout::parameter_count() const noexcept {
  std::size_t count = 0;
  for (const TensorInfo& tensor : tensors_) {
    if (tensor.is_parameter) count += tensor.size;
  }
  return count;
}

std::string Layout::description() const {
  std::ostringstream text;
  for (const TensorInfo& tensor : tensors_) {
    text << tensor.name << " [";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      text << (i > 0 ? "," : "") << tensor.shape[i];
    }
    text << "] at " << tensor.offset;
    if (!tensor.is_parameter) text << " running, momentum " << tensor.momentum;
    text << '\n';
  }
  return text.str();
}

}  // namespace rubato::nn
