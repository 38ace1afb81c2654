// The accumulation pass, segment by segment: a segment is what one tensor has of one norm block.
#include "optim/gradient_accumulator.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace rubato::optim {

namespace {

using Bits = std::uint32_t __attribute__((vector_size(lane_group * sizeof(std::uint32_t))));

struct SegmentFacts {
  double square;
  std::uint32_t largest_bits;
};

// What one group of lanes carries through a segment.
struct Lanes {
  Doubles square{};
  Bits largest{};
};

// sums (+)= gradient for one group. The first gradient of an update overwrites what the last one
// left.
template <bool first, class Sum>
inline void add_group(const float* gradient, Sum* sums, double constant, Lanes& state) {
  using Addends = std::conditional_t<std::is_same_v<Sum, double>, Doubles, Floats>;
  const auto g = load_lanes<Floats>(gradient);
  const Doubles wide = __builtin_convertvector(g, Doubles);
  Addends addends;
  if constexpr (std::is_same_v<Sum, double>) {
    addends = (wide + constant) - constant;
  } else {
    addends = g;
  }
  if constexpr (!first) {
    addends = load_lanes<Addends>(sums) + addends;
  }
  store_lanes(addends, sums);
  state.square += wide * wide;
  const Bits magnitude = load_lanes<Bits>(gradient) & 0x7fffffffU;
  state.largest = magnitude > state.largest ? magnitude : state.largest;
}

template <bool first, class Sum>
SegmentFacts add_segment(const float* __restrict gradient, Sum* __restrict sums, std::size_t size,
                         double constant) {
  Lanes low;
  Lanes high;
  for (std::size_t i = 0; i < size; i += lanes) {
    add_group<first>(gradient + i, sums + i, constant, low);
    add_group<first>(gradient + i + lane_group, sums + i + lane_group, constant, high);
  }
  const Bits largest = low.largest > high.largest ? low.largest : high.largest;
  return {sum_in_order(low.square, high.square),
          std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]))};
}

}  // namespace

SumKind sum_kind(const std::string& name) {
  if (name == "exact") return SumKind::exact;
  if (name == "fast") return SumKind::fast;
  throw std::invalid_argument("unknown sum \"" + name + "\"; valid: exact, fast");
}

std::string to_string(SumKind kind) { return kind == SumKind::exact ? "exact" : "fast"; }

GradientAccumulator::GradientAccumulator(std::vector<TensorRange> tensors,
                                         std::size_t total_elements, Sums sums)
    : sums_(sums), largest_bits_(tensors.size(), 0) {
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    const bool is_last = tensor + 1 == tensors.size();
    const std::size_t end = is_last ? total_elements : tensors[tensor + 1].begin;
    for (std::size_t begin = tensors[tensor].begin; begin < end;) {
      const std::size_t block_end = (begin / norm_block_elements + 1) * norm_block_elements;
      const std::size_t size = std::min(end, block_end) - begin;
      if (size % lanes != 0) throw std::logic_error("tensors must be padded to whole lanes");
      segments_.push_back(
          {begin, size, tensor, tensors[tensor].is_parameter, begin + size == block_end});
      begin += size;
    }
    if (tensors[tensor].is_parameter) parameter_segments_ = segments_.size();
  }
  squares_.resize(segments_.size());
  added_from_ = parameter_segments_;
}

void GradientAccumulator::begin() {
  is_empty_ = true;
  added_from_ = parameter_segments_;
  std::fill(largest_bits_.begin(), largest_bits_.end(), 0U);
}

double GradientAccumulator::add(std::span<const float> gradient, const ExactUnits& units) {
  add_segments(0, added_from_, gradient, units);
  add_segments(parameter_segments_, segments_.size(), gradient, units);
  is_empty_ = false;
  added_from_ = parameter_segments_;
  double square = 0;
  double block = 0;
  for (std::size_t i = 0; i < parameter_segments_; ++i) {
    block += squares_[i];
    if (segments_[i].ends_block) square += std::exchange(block, 0.0);
  }
  return square + block;
}

void GradientAccumulator::add_from(std::size_t from, std::span<const float> gradient,
                                   const ExactUnits& units) {
  std::size_t first = added_from_;
  while (first > 0 && segments_[first - 1].begin >= from) --first;
  add_segments(first, added_from_, gradient, units);
  added_from_ = first;
}

void GradientAccumulator::add_segments(std::size_t first, std::size_t last,
                                       std::span<const float> gradient, const ExactUnits& units) {
  std::visit(
      [&](auto sums) {
        for (std::size_t i = first; i < last; ++i) {
          const Segment& segment = segments_[i];
          const double constant = units.rounding_constant(segment.tensor);
          const float* from = gradient.data() + segment.begin;
          auto* to = sums.data() + segment.begin;
          const SegmentFacts facts = is_empty_
                                         ? add_segment<true>(from, to, segment.size, constant)
                                         : add_segment<false>(from, to, segment.size, constant);
          std::uint32_t& largest = largest_bits_[segment.tensor];
          largest = std::max(largest, facts.largest_bits);
          squares_[i] = facts.square;
        }
      },
      sums_);
}

void GradientAccumulator::finish() {
  if (!is_empty_) return;
  std::visit([](auto sums) { std::fill(sums.begin(), sums.end(), 0); }, sums_);
}

}  // namespace rubato::optim
