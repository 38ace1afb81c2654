#include "optim/node_gradients.hpp"

#include <algorithm>
#include <type_traits>

#include "collectives/addend_sum.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

constexpr std::size_t line_floats = 64 / sizeof(float);
constexpr std::size_t prefetch_floats = collectives::prefetch_distance_bytes / sizeof(float);

template <class T>
using Addends = std::conditional_t<std::is_same_v<T, double>, Doubles, Floats>;

// What a gradient adds to a sum: itself, or rounded to the units of the exact sum.
template <class T>
inline Addends<T> addends(const float* gradient, double constant) {
  const auto values = load_lanes<Floats>(gradient);
  if constexpr (std::is_same_v<T, float>) {
    return values;
  } else {
    return (__builtin_convertvector(values, Doubles) + constant) - constant;
  }
}

// sums (+)= a [+ b]
template <bool adds, bool has_two, class T>
void add_gradients(const float* a, const float* b, std::size_t size, double constant,
                   T* __restrict sums) {
  for (std::size_t line = 0; line < size; line += line_floats) {
    __builtin_prefetch(a + line + prefetch_floats);
    if constexpr (has_two) __builtin_prefetch(b + line + prefetch_floats);
    for (std::size_t i = line; i < std::min(line + line_floats, size); i += lane_group) {
      Addends<T> sum = addends<T>(a + i, constant);
      if constexpr (adds) sum = load_lanes<Addends<T>>(sums + i) + sum;
      if constexpr (has_two) sum += addends<T>(b + i, constant);
      store_lanes(sum, sums + i);
    }
  }
}

template <class T>
void add_gradients(const float* a, const float* b, bool adds, std::size_t size, double constant,
                   T* sums) {
  if (b == nullptr) {
    adds ? add_gradients<true, false>(a, b, size, constant, sums)
         : add_gradients<false, false>(a, b, size, constant, sums);
  } else {
    adds ? add_gradients<true, true>(a, b, size, constant, sums)
         : add_gradients<false, true>(a, b, size, constant, sums);
  }
}

template <class T>
void add_arrays(std::span<const T* const> arrays, bool adds, std::size_t begin, std::span<T> sums) {
  if (!adds) return collectives::sum_addends<T>(arrays, begin, sums.size(), sums.data());
  for (const T* array : arrays) collectives::add_to(sums.data(), array + begin, sums.size());
}

}  // namespace

NodeGradients::NodeGradients(const collectives::Topology& topology, const TensorSegments& segments,
                             const ExactUnits& units, std::size_t total_elements)
    : segments_(segments),
      units_(units),
      node_rank_(topology.node().rank()),
      memory_(topology, (line_floats + total_elements) * sizeof(float)) {}

NodeGradients::Form& NodeGradients::form_of(std::size_t node_rank) const {
  return memory_.region_as<Form>(node_rank).front();
}

std::span<float> NodeGradients::gradient_of(std::size_t node_rank) const {
  return memory_.region_as<float>(node_rank).subspan(line_floats);
}

template <class T>
void NodeGradients::add_up(std::size_t first, std::span<const T* const> arrays, std::size_t begin,
                           std::span<T> sums) const {
  bool adds = false;
  for (std::size_t i = 0, count = 1; i < arrays.size(); i += count) {
    const Form form = form_of(first + i);
    const auto is_alike = [&](std::size_t other) {
      return other < arrays.size() && form_of(first + other) == form;
    };
    if (form == Form::gradient) {
      count = is_alike(i + 1) ? 2 : 1;
      const float* const a = gradient_of(first + i).data();
      const float* const b = count == 2 ? gradient_of(first + i + 1).data() : nullptr;
      for (const Segment& segment : segments_.of_block(begin)) {
        add_gradients(a + segment.begin, b == nullptr ? b : b + segment.begin, adds, segment.size,
                      units_.rounding_constant(segment.tensor),
                      sums.data() + (segment.begin - begin));
      }
    } else {
      for (count = 1; is_alike(i + count);) ++count;
      if (form == Form::nothing) continue;
      add_arrays<T>(arrays.subspan(i, count), adds, begin, sums);
    }
    adds = true;
  }
  if (!adds) std::ranges::fill(sums, T{});
}

template void NodeGradients::add_up(std::size_t, std::span<const double* const>, std::size_t,
                                    std::span<double>) const;
template void NodeGradients::add_up(std::size_t, std::span<const float* const>, std::size_t,
                                    std::span<float>) const;

}  // namespace rubato::optim
