// Segment by segment.
#include "optim/gradient_accumulator.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "optim/gradient_passes.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

static_assert(line_elements % lanes == 0, "segments must be whole rows of lanes");

template <class T>
const GradientPasses<T>& passes_into(std::span<T>) {
  return gradient_passes<T>();
}

}  // namespace

SumKind sum_kind(const std::string& name) {
  if (name == "exact") return SumKind::exact;
  if (name == "fast") return SumKind::fast;
  throw std::invalid_argument("unknown sum \"" + name + "\"; valid: exact, fast");
}

std::string to_string(SumKind kind) { return kind == SumKind::exact ? "exact" : "fast"; }

GradientAccumulator::GradientAccumulator(const TensorSegments& segments, std::size_t tensors,
                                         Sums sums)
    : segments_(segments),
      sums_(sums),
      squares_(segments.all().size()),
      second_squares_(segments.all().size()),
      taken_from_(segments.all().size()),
      largest_bits_(tensors) {}

void GradientAccumulator::begin() {
  is_empty_ = true;
  taken_from_ = segments_.all().size();
  std::ranges::fill(largest_bits_, 0U);
}

double GradientAccumulator::add(std::span<const float> gradient, const ExactUnits& units) {
  const double square = finish([&](std::size_t i) { add_segment(i, gradient, units); });
  is_empty_ = false;
  return square;
}

std::array<double, 2> GradientAccumulator::add_two(std::span<const float> a,
                                                   std::span<const float> b,
                                                   const ExactUnits& units) {
  for (std::size_t i = 0; i < segments_.all().size(); ++i) {
    const Segment& segment = segments_.all()[i];
    const double constant = units.rounding_constant(segment.tensor);
    const float* const from_a = a.data() + segment.begin;
    const float* const from_b = b.data() + segment.begin;
    const auto add = [&](auto sums) {
      return passes_into(sums).add_two(from_a, from_b, segment.size, constant, is_empty_,
                                       sums.data() + segment.begin);
    };
    const auto [facts_a, facts_b] = std::visit(add, sums_);
    squares_[i] = facts_a.square;
    second_squares_[i] = facts_b.square;
    note_largest(i, std::max(facts_a.largest_bits, facts_b.largest_bits));
  }
  is_empty_ = false;
  return {segments_.sum_by_blocks(squares_), segments_.sum_by_blocks(second_squares_)};
}

std::size_t GradientAccumulator::add_from(std::size_t from, std::span<const float> gradient,
                                          const ExactUnits& units) {
  return take_from(from, [&](std::size_t i) { add_segment(i, gradient, units); });
}

double GradientAccumulator::look(std::span<const float> gradient) {
  return finish([&](std::size_t i) { look_at_segment(i, gradient); });
}

std::size_t GradientAccumulator::look_from(std::size_t from, std::span<const float> gradient) {
  return take_from(from, [&](std::size_t i) { look_at_segment(i, gradient); });
}

template <class Take>
double GradientAccumulator::finish(const Take& take) {
  take_from(0, take);
  taken_from_ = segments_.all().size();
  return segments_.sum_by_blocks(squares_);
}

template <class Take>
std::size_t GradientAccumulator::take_from(std::size_t from, const Take& take) {
  const std::size_t end = taken_from_;
  while (taken_from_ > 0 && segments_.begin_of(taken_from_ - 1) >= from) --taken_from_;
  for (std::size_t i = taken_from_; i < end; ++i) take(i);
  return segments_.begin_of(taken_from_);
}

void GradientAccumulator::add_segment(std::size_t index, std::span<const float> gradient,
                                      const ExactUnits& units) {
  const Segment& segment = segments_.all()[index];
  const double constant = units.rounding_constant(segment.tensor);
  const float* const from = gradient.data() + segment.begin;
  const auto add = [&](auto sums) {
    return passes_into(sums).add(from, segment.size, constant, is_empty_,
                                 sums.data() + segment.begin);
  };
  const SegmentFacts facts = std::visit(add, sums_);
  note(index, gradient, facts.square, facts.largest_bits);
}

void GradientAccumulator::look_at_segment(std::size_t index, std::span<const float> gradient) {
  const Segment& segment = segments_.all()[index];
  const SegmentFacts facts =
      gradient_passes<float>().look(gradient.data() + segment.begin, segment.size);
  note(index, gradient, facts.square, facts.largest_bits);
}

void GradientAccumulator::note(std::size_t index, std::span<const float> gradient, double square,
                               std::uint32_t largest_bits) {
  const Segment& segment = segments_.all()[index];
  squares_[index] = square;
  note_largest(index, largest_bits);
  if (watch_) watch_(index, gradient.subspan(segment.begin, segment.size));
}

void GradientAccumulator::note_largest(std::size_t index, std::uint32_t bits) {
  std::uint32_t& largest = largest_bits_[segments_.all()[index].tensor];
  largest = std::max(largest, bits);
}

}  // namespace rubato::optim
