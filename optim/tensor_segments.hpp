// The flat buffers' parts: which tensor lies where, and what each has of which norm block.
//
// Sums go tensor by tensor, because each has units of its own, and norms block by block, because
// blocks are what ranks share out. A segment is what one tensor has of one block.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace rubato::optim {

inline constexpr std::size_t line_elements = 16;  // of a cache line

// A tensor's place in the flat buffers: begin a multiple of line_elements; the elements up to the
// next tensor are padding, and zero.
struct TensorRange {
  std::string name;
  std::size_t begin = 0;
  std::size_t size = 0;
  bool is_parameter =
      true;  // false: a running statistic, averaged over minibatches rather than samples
  double statistic_weight = 0;  // running statistics: a in z <- (1-a) z + a s, per minibatch
  bool is_vector = false;       // one-dimensional: a bias, a scale or a shift
};

struct Segment {
  std::size_t begin;
  std::size_t size;  // padding included; whole lines
  std::size_t tensor;
  std::size_t tensor_size;  // of all its segments
  bool ends_block;
};

class TensorSegments {
 public:
  // `tensors` in order of place, the parameters first. Throws std::logic_error where they are not
  // padded to whole lines.
  TensorSegments(std::span<const TensorRange> tensors, std::size_t total_elements);

  std::span<const Segment> all() const noexcept { return all_; }
  std::size_t parameters() const noexcept { return parameters_; }  // the first so many
  // Where a segment begins, or behind the last of them.
  std::size_t begin_of(std::size_t index) const {
    return index < all_.size() ? all_[index].begin : total_elements_;
  }
  // Of a number for each of the parameters' segments: those of a block, then the blocks, in order.
  double sum_by_blocks(std::span<const double> numbers) const;
  // Those of the norm block that begins at an element.
  std::span<const Segment> of_block(std::size_t begin) const;

 private:
  std::vector<Segment> all_;
  std::vector<std::size_t> first_of_block_;
  std::size_t total_elements_;
  std::size_t parameters_ = 0;
};

}  // namespace rubato::optim
