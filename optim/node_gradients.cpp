#include "optim/node_gradients.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "collectives/addend_sum.hpp"
#include "optim/norm_block.hpp"
#include "optim/segment_look.hpp"

namespace rubato::optim {

namespace {

template <class T>
inline Lanes<T> addends_at(const float* gradient, double constant) {
  return addends<T>(load_lanes<Floats>(gradient), constant);
}

// sums (+)= a [+ b]
template <bool adds, bool has_two, class T>
void add_gradients(const float* a, const float* b, std::size_t size, double constant,
                   T* __restrict sums) {
  for (std::size_t line = 0; line < size; line += line_elements) {
    prefetch_row_after(a + line);
    if constexpr (has_two) prefetch_row_after(b + line);
    for (std::size_t i = line; i < line + line_elements; i += lane_group) {
      Lanes<T> sum = addends_at<T>(a + i, constant);
      if constexpr (adds) sum = load_lanes<Lanes<T>>(sums + i) + sum;
      if constexpr (has_two) sum += addends_at<T>(b + i, constant);
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

using InPlace = std::array<const float*, NodeGradients::most_in_registers>;

// mean = (a + b + ...) * factor of the first `count` gradients, one of which it may overwrite, and
// what its squares are added to.
template <std::size_t count, class T>
LaneSums take_mean_of(const InPlace& gradients, std::size_t begin, std::size_t size,
                      double constant, T factor, float* mean, LaneSums squares) {
  const auto at = [&](std::size_t which) { return gradients[which % count] + begin; };
  const float* const a = at(0);
  const float* const b = at(1);
  const float* const c = at(2);
  const float* const d = at(3);
  const float* const e = at(4);
  const float* const f = at(5);
  const auto sum_at = [=](std::size_t i) {
    Lanes<T> sum = addends_at<T>(a + i, constant);
    if constexpr (count > 1) sum += addends_at<T>(b + i, constant);
    if constexpr (count > 2) sum += addends_at<T>(c + i, constant);
    if constexpr (count > 3) sum += addends_at<T>(d + i, constant);
    if constexpr (count > 4) sum += addends_at<T>(e + i, constant);
    if constexpr (count > 5) sum += addends_at<T>(f + i, constant);
    return sum;
  };
  for (std::size_t i = 0; i < size; i += lanes) {
    prefetch_row_after(a + i);
    if constexpr (count > 1) prefetch_row_after(b + i);
    if constexpr (count > 2) prefetch_row_after(c + i);
    if constexpr (count > 3) prefetch_row_after(d + i);
    if constexpr (count > 4) prefetch_row_after(e + i);
    if constexpr (count > 5) prefetch_row_after(f + i);
    std::array<Lanes<T>, lane_groups> sums;
    for_each_group([&](std::size_t group) { sums[group] = sum_at(i + group * lane_group); });
    for_each_group([&](std::size_t group) {
      take_mean_of_lanes(sums[group], factor, mean + i + group * lane_group, squares[group]);
    });
  }
  return squares;
}

// What is seen of a segment of several gradients.
struct Looks {
  std::array<double, NodeGradients::most_places> squares;
  std::uint32_t largest_bits;
};

// The same, with a look at each gradient.
template <std::size_t count, class T>
LaneSums look_and_take_mean_of(const InPlace& gradients, std::size_t begin, std::size_t size,
                               double constant, T factor, float* mean, LaneSums mean_squares,
                               Looks& looks) {
  std::array<LaneSums, count> squares{};
  Largest largest{};
  for (std::size_t i = 0; i < size; i += lanes) {
    for (std::size_t which = 0; which < count; ++which) {
      const float* const row = gradients[which] + begin + i;
      prefetch_row_after(row);
      note_largest_of_row(row, largest);
    }
    for_each_group([&](std::size_t group) {
      const std::size_t j = i + group * lane_group;
      const auto addends_of = [&](std::size_t which) {
        return measured_addends<T>(gradients[which] + begin + j, constant, squares[which][group]);
      };
      Lanes<T> sum = addends_of(0);
      for (std::size_t which = 1; which < count; ++which) sum += addends_of(which);
      take_mean_of_lanes(sum, factor, mean + j, mean_squares[group]);
    });
  }
  for (std::size_t which = 0; which < count; ++which) {
    looks.squares[which] = sum_in_order(squares[which]);
  }
  looks.largest_bits = largest_of(largest);
  return mean_squares;
}

}  // namespace

NodeGradients::NodeGradients(const collectives::Topology& topology, const TensorSegments& segments,
                             const ExactUnits& units, std::size_t total_elements)
    : segments_(segments),
      units_(units),
      node_rank_(topology.node().rank()),
      node_ranks_(topology.node().size()),
      total_elements_(total_elements),
      memory_(topology, (line_elements + own_places * total_elements_) * sizeof(float)) {}

NodeGradients::Parts& NodeGradients::parts_of(std::size_t node_rank) const {
  return memory_.region_as<Parts>(node_rank).front();
}

template <class Float>
Float* NodeGradients::gradient_of(std::size_t node_rank, std::size_t which, Float* sums) const {
  if (which >= own_places) return sums + (which - own_places) * total_elements_;
  return memory_.region_as<float>(node_rank).data() + line_elements + which * total_elements_;
}

std::span<float> NodeGradients::place(std::size_t which, float* sums) const {
  return {gradient_of(node_rank_, which, sums), total_elements_};
}

template <class T, class Use>
void NodeGradients::for_each_gradient(std::size_t first, std::span<const T* const> arrays,
                                      const Use& use) const {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto* const sums = reinterpret_cast<const float*>(arrays[i]);
    for (std::size_t which = 0; which < parts_of(first + i).gradients; ++which) {
      use(gradient_of(first + i, which, sums));
    }
  }
}

template <class T>
void NodeGradients::add_up(std::size_t first, std::span<const T* const> arrays, std::size_t begin,
                           std::span<T> sums) const {
  bool adds = false;
  for (std::size_t i = 0, count = 1; i < arrays.size(); i += count) {
    const auto has_sums = [&](std::size_t which) {
      return which < arrays.size() && parts_of(first + which).has_sums;
    };
    for (count = 0; has_sums(i + count);) ++count;
    if (count > 0) {
      add_arrays<T>(arrays.subspan(i, count), adds, begin, sums);
      adds = true;
    } else {
      count = 1;
    }
  }
  const float* waiting = nullptr;
  const auto add = [&](const float* a, const float* b) {
    for (const Segment& segment : segments_.of_block(begin)) {
      add_gradients(a + segment.begin, b == nullptr ? b : b + segment.begin, adds, segment.size,
                    units_.rounding_constant(segment.tensor),
                    sums.data() + (segment.begin - begin));
    }
    adds = true;
  };
  for_each_gradient(first, arrays, [&](const float* gradient) {
    if (waiting != nullptr) add(waiting, gradient);
    waiting = waiting == nullptr ? gradient : nullptr;
  });
  if (waiting != nullptr) add(waiting, nullptr);
  if (!adds) std::ranges::fill(sums, T{});
}

bool NodeGradients::can_take_mean() const {
  std::size_t gradients = 0;
  for (std::size_t rank = 0; rank < node_ranks_; ++rank) {
    if (parts_of(rank).has_sums) return false;
    gradients += parts_of(rank).gradients;
  }
  return gradients > 0 && gradients <= most_in_registers;
}

template <class T>
double NodeGradients::take_mean(std::span<const T* const> arrays, std::size_t begin,
                                std::span<float> mean, T per_sample, T per_minibatch) const {
  InPlace gradients{};
  std::size_t count = 0;
  for_each_gradient(0, arrays, [&](const float* gradient) { gradients[count++] = gradient; });
  constexpr std::array kernels = {take_mean_of<1, T>, take_mean_of<2, T>, take_mean_of<3, T>,
                                  take_mean_of<4, T>, take_mean_of<5, T>, take_mean_of<6, T>};
  const std::size_t parameters = segments_.begin_of(segments_.parameters());
  LaneSums squares{};
  for (const Segment& segment : segments_.of_block(begin)) {
    const bool is_parameter = segment.begin < parameters;
    const LaneSums more = kernels[count - 1](
        gradients, segment.begin, segment.size, units_.rounding_constant(segment.tensor),
        is_parameter ? per_sample : per_minibatch, mean.data() + (segment.begin - begin), squares);
    if (is_parameter) squares = more;
  }
  return sum_in_order(squares);
}

template <class T>
double NodeGradients::look_and_take_mean(std::span<const T* const> arrays, std::size_t begin,
                                         std::span<float> mean, T per_sample, T per_minibatch,
                                         FirstSight& sight) const {
  InPlace gradients{};
  std::array<std::size_t, most_places> slots{};
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
    const auto* const sums = reinterpret_cast<const float*>(arrays[rank]);
    const Parts& parts = parts_of(rank);
    for (std::size_t k = 0; k < parts.gradients && count < most_places; ++k, ++count) {
      gradients[count] = gradient_of(rank, k, sums);
      slots[count] = parts.slots[k];
    }
  }
  constexpr std::array kernels = {look_and_take_mean_of<1, T>, look_and_take_mean_of<2, T>,
                                  look_and_take_mean_of<3, T>, look_and_take_mean_of<4, T>};
  LaneSums squares{};
  for (const Segment& segment : segments_.of_block(begin)) {
    const auto index = static_cast<std::size_t>(&segment - segments_.all().data());
    const bool is_parameter = index < segments_.parameters();
    float* const mean_here = mean.data() + (segment.begin - begin);
    const auto show = [&](bool is_in_cache) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::span<const float> here(gradients[i] + segment.begin, segment.size);
        const bool is_overwritten = here.data() == mean_here;
        if (is_in_cache != is_overwritten) sight.show(index, slots[i], here, is_in_cache);
      }
    };
    show(/*is_in_cache=*/false);
    Looks looks;
    const LaneSums more = kernels[count - 1](
        gradients, segment.begin, segment.size, units_.rounding_constant(segment.tensor),
        is_parameter ? per_sample : per_minibatch, mean_here, squares, looks);
    if (is_parameter) squares = more;
    show(/*is_in_cache=*/true);
    for (std::size_t i = 0; i < count; ++i) sight.see(index, slots[i], looks.squares[i]);
    sight.see_largest(index, looks.largest_bits);
  }
  return sum_in_order(squares);
}

template double NodeGradients::look_and_take_mean(std::span<const double* const>, std::size_t,
                                                  std::span<float>, double, double,
                                                  FirstSight&) const;
template double NodeGradients::look_and_take_mean(std::span<const float* const>, std::size_t,
                                                  std::span<float>, float, float,
                                                  FirstSight&) const;
template double NodeGradients::take_mean(std::span<const double* const>, std::size_t,
                                         std::span<float>, double, double) const;
template double NodeGradients::take_mean(std::span<const float* const>, std::size_t,
                                         std::span<float>, float, float) const;
template void NodeGradients::add_up(std::size_t, std::span<const double* const>, std::size_t,
                                    std::span<double>) const;
template void NodeGradients::add_up(std::size_t, std::span<const float* const>, std::size_t,
                                    std::span<float>) const;

}  // namespace rubato::optim
