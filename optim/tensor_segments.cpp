#include "optim/tensor_segments.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "optim/norm_block.hpp"

namespace rubato::optim {

TensorSegments::TensorSegments(std::span<const TensorRange> tensors, std::size_t total_elements)
    : total_elements_(total_elements) {
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    const bool is_last = tensor + 1 == tensors.size();
    const std::size_t end = is_last ? total_elements : tensors[tensor + 1].begin;
    const std::size_t tensor_size = end - tensors[tensor].begin;
    for (std::size_t begin = tensors[tensor].begin; begin < end;) {
      const std::size_t block_end = (begin / norm_block_elements + 1) * norm_block_elements;
      const std::size_t size = std::min(end, block_end) - begin;
      if (size % line_elements != 0) {
        throw std::logic_error("tensors must be padded to whole lines");
      }
      if (begin % norm_block_elements == 0) first_of_block_.push_back(all_.size());
      all_.push_back({begin, size, tensor, tensor_size, begin + size == block_end});
      begin += size;
    }
    if (tensors[tensor].is_parameter) parameters_ = all_.size();
  }
  first_of_block_.push_back(all_.size());
}

std::span<const Segment> TensorSegments::of_block(std::size_t begin) const {
  const std::size_t block = begin / norm_block_elements;
  return all().subspan(first_of_block_[block], first_of_block_[block + 1] - first_of_block_[block]);
}

double TensorSegments::sum_by_blocks(std::span<const double> numbers) const {
  double sum = 0;
  double block = 0;
  for (std::size_t i = 0; i < parameters_; ++i) {
    block += numbers[i];
    if (all_[i].ends_block) sum += std::exchange(block, 0.0);
  }
  return sum + block;
}

}  // namespace rubato::optim
