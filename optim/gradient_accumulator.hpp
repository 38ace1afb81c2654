// Adds the minibatch gradients of one rank, in one pass over each.
//
// One pass makes three things: the sum (rounded to the exact sum's units first, or plain float),
// the gradient's squared norm, and each tensor's largest magnitude as an integer (which serves as
// maximum and as inf/NaN flag alike).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "optim/exact_units.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

enum class SumKind { exact, fast };
SumKind sum_kind(const std::string& name);  // "exact", "fast"; throws std::invalid_argument
std::string to_string(SumKind kind);

// A tensor's place in the flat buffers: begin a multiple of 16; the elements up to the next tensor
// are padding, and zero.
struct TensorRange {
  std::string name;
  std::size_t begin = 0;
  std::size_t size = 0;
  bool is_parameter =
      true;  // false: a running statistic, averaged over minibatches rather than samples
  double statistic_weight = 0;  // running statistics: a in z <- (1-a) z + a s, per minibatch
};

class GradientAccumulator {
 public:
  // Where the sums are kept: double for the exact sum, float for the fast one.
  using Sums = std::variant<std::span<double>, std::span<float>>;

  // `tensors` in order of place; the parameters first. All buffers have `total_elements`.
  GradientAccumulator(std::vector<TensorRange> tensors, std::size_t total_elements, Sums sums);

  void begin();  // a new update: the sums are empty
  // Adds one gradient; returns its squared norm over the parameters.
  double add(std::span<const float> gradient, const ExactUnits& units);
  // Adds what is final of a gradient that is still being computed, its parameters from `from` on:
  // the end of the tensor before `from`, or a multiple of the norm block. add() then adds the rest.
  void add_from(std::size_t from, std::span<const float> gradient, const ExactUnits& units);
  void finish();  // zeroes the sums if nothing was added: an idle rank contributes nothing

  // Per tensor: bits of the largest |g| added since begin().
  const std::vector<std::uint32_t>& largest_bits() const noexcept { return largest_bits_; }

 private:
  // A part of a tensor that lies within one norm block, padding included.
  struct Segment {
    std::size_t begin;
    std::size_t size;
    std::size_t tensor;
    bool is_parameter;
    bool ends_block;
  };

  void add_segments(std::size_t first, std::size_t last, std::span<const float> gradient,
                    const ExactUnits& units);

  Sums sums_;
  std::vector<Segment> segments_;
  std::vector<double> squares_;  // of the gradient under way, of each segment
  std::size_t parameter_segments_ = 0;
  std::size_t added_from_ = 0;  // parameter segments from here on have been added of it
  std::vector<std::uint32_t> largest_bits_;
  bool is_empty_ = true;
};

}  // namespace rubato::optim
