// What gradient_passes.hpp describes, in the vectors that the including file is compiled for. Not
// for other files than the two that make it the passes of a width.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

#include "optim/gradient_passes.hpp"
#include "optim/norm_block.hpp"
#include "optim/segment_look.hpp"

namespace rubato::optim {
inline namespace RUBATO_LANES {

// sums (+)= addends for one group. The first of an update overwrite what the last one left.
template <bool is_first, class T>
inline void add_group(Lanes<T> group, T* sums) {
  if constexpr (!is_first) group = load_lanes<Lanes<T>>(sums) + group;
  store_lanes(group, sums);
}

template <class T>
inline Lanes<T> addends_at(const float* gradient, double constant) {
  return addends<T>(load_lanes<Floats>(gradient), constant);
}

inline SegmentFacts look(const float* gradient, std::size_t size) {
  LookState state;
  for (std::size_t i = 0; i < size; i += lanes) {
    prefetch_row_after(gradient + i);
    note_largest_of_row(gradient + i, state.largest);
    for_each_group([&](std::size_t group) {
      const Doubles wide = widened(load_lanes<Floats>(gradient + i + group * lane_group));
      add_product(wide, wide, state.square[group]);
    });
  }
  return facts_of(state);
}

template <bool is_first, class T>
SegmentFacts add(const float* __restrict gradient, std::size_t size, double constant,
                 T* __restrict sums) {
  LookState state;
  for (std::size_t i = 0; i < size; i += lanes) {
    prefetch_row_after(gradient + i);
    if constexpr (!is_first) prefetch_row_after(sums + i);
    note_largest_of_row(gradient + i, state.largest);
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      add_group<is_first>(measured_addends<T>(gradient + j, constant, state.square[group]),
                          sums + j);
    });
  }
  return facts_of(state);
}

template <class T>
SegmentFacts add(const float* gradient, std::size_t size, double constant, bool is_first, T* sums) {
  return is_first ? add<true>(gradient, size, constant, sums)
                  : add<false>(gradient, size, constant, sums);
}

template <bool is_first, class T>
std::array<SegmentFacts, 2> add_two(const float* __restrict a, const float* __restrict b,
                                    std::size_t size, double constant, T* __restrict sums) {
  LookState of_a;
  LookState of_b;
  for (std::size_t i = 0; i < size; i += lanes) {
    prefetch_row_after(a + i);
    prefetch_row_after(b + i);
    if constexpr (!is_first) prefetch_row_after(sums + i);
    note_largest_of_row(a + i, of_a.largest);
    note_largest_of_row(b + i, of_b.largest);
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      add_group<is_first>(measured_addends<T>(a + j, constant, of_a.square[group]) +
                              measured_addends<T>(b + j, constant, of_b.square[group]),
                          sums + j);
    });
  }
  return {facts_of(of_a), facts_of(of_b)};
}

template <class T>
std::array<SegmentFacts, 2> add_two(const float* a, const float* b, std::size_t size,
                                    double constant, bool is_first, T* sums) {
  return is_first ? add_two<true>(a, b, size, constant, sums)
                  : add_two<false>(a, b, size, constant, sums);
}

template <bool is_first, bool has_two, class T>
void add_up(const float* a, const float* b, std::size_t size, double constant, T* __restrict sums) {
  for (std::size_t i = 0; i < size; i += lanes) {
    prefetch_row_after(a + i);
    if constexpr (has_two) prefetch_row_after(b + i);
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      Lanes<T> sum = addends_at<T>(a + j, constant);
      if constexpr (!is_first) sum = load_lanes<Lanes<T>>(sums + j) + sum;
      if constexpr (has_two) sum += addends_at<T>(b + j, constant);
      store_lanes(sum, sums + j);
    });
  }
}

template <class T>
void add_up(const float* a, const float* b, std::size_t size, double constant, bool is_first,
            T* sums) {
  if (b == nullptr) {
    is_first ? add_up<true, false>(a, b, size, constant, sums)
             : add_up<false, false>(a, b, size, constant, sums);
  } else {
    is_first ? add_up<true, true>(a, b, size, constant, sums)
             : add_up<false, true>(a, b, size, constant, sums);
  }
}

// A copy of the pointers: those in memory that `mean` might overlap would be loaded anew in each
// row.
template <std::size_t count>
std::array<const float*, count> pointers(Gradients gradients) {
  std::array<const float*, count> copy;
  for (std::size_t which = 0; which < count; ++which) copy[which] = gradients.data()[which];
  return copy;
}

template <std::size_t count, class T>
void take_mean_of(Gradients gradients, std::size_t size, double constant, T factor, float* mean,
                  LaneSquares& mean_squares) {
  const auto from = pointers<count>(gradients);
  auto squares = std::bit_cast<LaneSums>(mean_squares);
  for (std::size_t i = 0; i < size; i += lanes) {
    for (std::size_t which = 0; which < count; ++which) prefetch_row_after(from[which] + i);
    std::array<Lanes<T>, lane_groups> sums;
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      sums[group] = addends_at<T>(from[0] + j, constant);
      for (std::size_t which = 1; which < count; ++which) {
        sums[group] += addends_at<T>(from[which] + j, constant);
      }
    });
    for_each_group([&](std::size_t group) {
      take_mean_of_lanes(sums[group], factor, mean + i + group * lane_group, squares[group]);
    });
  }
  mean_squares = std::bit_cast<LaneSquares>(squares);
}

template <std::size_t count, class T>
Looks look_and_take_mean_of(Gradients gradients, std::size_t size, double constant, T factor,
                            float* mean, LaneSquares& mean_squares) {
  const auto from = pointers<count>(gradients);
  auto squares_of_mean = std::bit_cast<LaneSums>(mean_squares);
  std::array<LaneSums, count> squares{};
  Largest largest{};
  for (std::size_t i = 0; i < size; i += lanes) {
    for (std::size_t which = 0; which < count; ++which) {
      prefetch_row_after(from[which] + i);
      note_largest_of_row(from[which] + i, largest);
    }
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      const auto addends_of = [&](std::size_t which) {
        return measured_addends<T>(from[which] + j, constant, squares[which][group]);
      };
      Lanes<T> sum = addends_of(0);
      for (std::size_t which = 1; which < count; ++which) sum += addends_of(which);
      take_mean_of_lanes(sum, factor, mean + j, squares_of_mean[group]);
    });
  }
  mean_squares = std::bit_cast<LaneSquares>(squares_of_mean);
  Looks looks{};
  for (std::size_t which = 0; which < count; ++which) {
    looks.squares[which] = sum_in_order(squares[which]);
  }
  looks.largest_bits = largest_of(largest);
  return looks;
}

// with_count(f, n): f(std::integral_constant<std::size_t, n>()), of n from 1 to most_in_place.
template <std::size_t count = 1, class Use>
auto with_count(const Use& use, std::size_t n) {
  if constexpr (count < most_in_place) {
    if (n > count) return with_count<count + 1>(use, n);
  }
  return use(std::integral_constant<std::size_t, count>());
}

template <class T>
void take_mean(Gradients gradients, std::size_t size, double constant, T factor, float* mean,
               LaneSquares& mean_squares) {
  with_count(
      [&](auto count) {
        take_mean_of<count>(gradients, size, constant, factor, mean, mean_squares);
      },
      gradients.size());
}

template <class T>
Looks look_and_take_mean(Gradients gradients, std::size_t size, double constant, T factor,
                         float* mean, LaneSquares& mean_squares) {
  return with_count(
      [&](auto count) {
        return look_and_take_mean_of<count>(gradients, size, constant, factor, mean, mean_squares);
      },
      gradients.size());
}

template <class T>
inline constexpr GradientPasses<T> passes_here = {.look = look,
                                                  .add = add<T>,
                                                  .add_two = add_two<T>,
                                                  .add_up = add_up<T>,
                                                  .take_mean = take_mean<T>,
                                                  .look_and_take_mean = look_and_take_mean<T>};

}  // namespace RUBATO_LANES
}  // namespace rubato::optim
