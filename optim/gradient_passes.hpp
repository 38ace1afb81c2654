// The passes over gradients in which an update spends what time it does not compute: over one
// segment, or what one tensor has of a block.
//
// They are compiled for vectors of two widths, and the processor says at run time which it has.
// The bits are the same: elements and lanes (norm_block.hpp) are added in the same order.
//
// Sizes are whole rows of lanes. T is what is added in: double, where gradients are rounded to the
// exact sum's units first by `constant` (exact_units.hpp), or float, where they are taken as they
// are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/norm_block.hpp"

namespace rubato::optim {

struct SegmentFacts {
  double square;               // of its norm
  std::uint32_t largest_bits;  // of its largest magnitude: infinite or NaN from infinity's on
};

// The squares that each lane has added up, from one segment to the next.
using LaneSquares = std::array<double, lanes>;
double sum_in_order(const LaneSquares& squares);

// Gradients that are added up from where they are, without sums in memory.
inline constexpr std::size_t most_in_place = 8;
using Gradients = std::span<const float* const>;

// What is seen of a segment of each of them, and of all.
struct Looks {
  std::array<double, most_in_place> squares;
  std::uint32_t largest_bits;
};

template <class T>
struct GradientPasses {
  // Reads a gradient.
  SegmentFacts (*look)(const float* gradient, std::size_t size);
  // The same, and sums = or += its addends: = if it is the first.
  SegmentFacts (*add)(const float* gradient, std::size_t size, double constant, bool is_first,
                      T* sums);
  // The same of two in one pass.
  std::array<SegmentFacts, 2> (*add_two)(const float* a, const float* b, std::size_t size,
                                         double constant, bool is_first, T* sums);
  // Only the sums. `b` may be null.
  void (*add_up)(const float* a, const float* b, std::size_t size, double constant, bool is_first,
                 T* sums);
  // mean = float((a + b + ...) * factor) of 1 to most_in_place gradients, which may be one of
  // them; its squares are added to those of the lanes.
  void (*take_mean)(Gradients gradients, std::size_t size, double constant, T factor, float* mean,
                    LaneSquares& mean_squares);
  // The same, with a look at each gradient.
  Looks (*look_and_take_mean)(Gradients gradients, std::size_t size, double constant, T factor,
                              float* mean, LaneSquares& mean_squares);
};

// For T double and float, in vectors of the width that RUBATO_ARCH gives, and of 512 bits.
enum class VectorWidth { of_build, of_512_bits };
// Null where the processor has no such vectors.
template <class T>
const GradientPasses<T>* gradient_passes(VectorWidth width);
// In the widest vectors that it has.
template <class T>
const GradientPasses<T>& gradient_passes();

}  // namespace rubato::optim
