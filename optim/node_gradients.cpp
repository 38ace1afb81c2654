#include "optim/node_gradients.hpp"

#include <algorithm>
#include <array>

#include "collectives/addend_sum.hpp"
#include "collectives/streaming_copy.hpp"
#include "optim/gradient_passes.hpp"

namespace rubato::optim {

namespace {

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
      node_ranks_(topology.node().size()),
      total_elements_(total_elements),
      my_slice_(topology.my_slice(total_elements)),
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

void NodeGradients::hand_over(std::span<const float> gradient, std::span<float> place) const {
  const auto copy_past_the_cache = [&](std::size_t begin, std::size_t end) {
    collectives::streaming_copy(gradient.subspan(begin, end - begin), place.data() + begin);
  };
  std::ranges::copy(gradient.subspan(my_slice_.begin, my_slice_.size),
                    place.subspan(my_slice_.begin).begin());
  copy_past_the_cache(0, my_slice_.begin);
  copy_past_the_cache(my_slice_.end(), total_elements_);
}

template <class T, class Use>
void NodeGradients::for_each_gradient(std::size_t first, std::span<const T* const> arrays,
                                      std::size_t begin, const Use& use) const {
  const bool is_shared = this->is_shared(begin);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto* const sums = reinterpret_cast<const float*>(arrays[i]);
    const Parts& parts = parts_of(first + i);
    for (std::size_t which = 0; which < parts.gradients; ++which) {
      use(gradient_of(first + i, which, sums));
    }
    for (std::size_t other = 0; is_shared && other < parts.others; ++other) {
      use(gradient_of(first + i, first_other(parts.gradients) + other, sums));
    }
  }
}

template <class T>
NodeGradients::InPlace NodeGradients::all_in_place(std::span<const T* const> arrays) const {
  InPlace all;
  for (std::size_t rank = 0; rank < arrays.size(); ++rank) {
    const auto* const sums = reinterpret_cast<const float*>(arrays[rank]);
    const Parts& parts = parts_of(rank);
    for (std::size_t k = 0; k < parts.gradients && all.count < most_in_place; ++k) {
      all.gradients[all.count] = gradient_of(rank, k, sums);
      all.slots[all.count++] = parts.slots[k];
    }
  }
  return all;
}

bool NodeGradients::is_of_parameter(const Segment& segment) const {
  return segment.begin < segments_.begin_of(segments_.parameters());
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
      gradient_passes<T>().add_up(a + segment.begin, b == nullptr ? b : b + segment.begin,
                                  segment.size, units_.rounding_constant(segment.tensor),
                                  /*is_first=*/!adds, sums.data() + (segment.begin - begin));
    }
    adds = true;
  };
  for_each_gradient(first, arrays, begin, [&](const float* gradient) {
    if (waiting != nullptr) add(waiting, gradient);
    waiting = waiting == nullptr ? gradient : nullptr;
  });
  if (waiting != nullptr) add(waiting, nullptr);
  if (!adds) std::ranges::fill(sums, T{});
}

bool NodeGradients::is_shared(std::size_t begin) const {
  return std::ranges::any_of(shared_blocks_, [=](const collectives::Slice& blocks) {
    return begin >= blocks.begin && begin < blocks.end();
  });
}

bool NodeGradients::can_take_mean() const {
  std::size_t gradients = 0;
  for (std::size_t rank = 0; rank < node_ranks_; ++rank) {
    if (parts_of(rank).has_sums) return false;
    gradients += parts_of(rank).gradients;
  }
  return gradients > 0 && gradients <= most_in_place;
}

template <class T>
double NodeGradients::take_mean(std::span<const T* const> arrays, std::size_t begin,
                                std::span<float> mean, T per_sample, T per_minibatch) const {
  const InPlace in_place = all_in_place(arrays);
  LaneSquares squares{};
  for (const Segment& segment : segments_.of_block(begin)) {
    const bool is_parameter = is_of_parameter(segment);
    const auto pieces = in_place.at(segment.begin);
    LaneSquares of_no_parameter{};
    gradient_passes<T>().take_mean(
        Gradients(pieces).first(in_place.count), segment.size,
        units_.rounding_constant(segment.tensor), is_parameter ? per_sample : per_minibatch,
        mean.data() + (segment.begin - begin), is_parameter ? squares : of_no_parameter);
  }
  return sum_in_order(squares);
}

template <class T>
double NodeGradients::look_and_take_mean(std::span<const T* const> arrays, std::size_t begin,
                                         std::span<float> mean, T per_sample, T per_minibatch,
                                         FirstSight& sight) const {
  const InPlace in_place = all_in_place(arrays);
  LaneSquares squares{};
  for (const Segment& segment : segments_.of_block(begin)) {
    const auto index = static_cast<std::size_t>(&segment - segments_.all().data());
    const bool is_parameter = is_of_parameter(segment);
    const auto pieces = in_place.at(segment.begin);
    float* const mean_here = mean.data() + (segment.begin - begin);
    const auto show = [&](bool is_in_cache) {
      for (std::size_t i = 0; i < in_place.count; ++i) {
        const std::span<const float> here(pieces[i], segment.size);
        const bool is_overwritten = here.data() == mean_here;
        if (is_in_cache != is_overwritten) {
          sight.show(index, in_place.slots[i], here, is_in_cache);
        }
      }
    };
    show(/*is_in_cache=*/false);
    LaneSquares of_no_parameter{};
    const Looks looks = gradient_passes<T>().look_and_take_mean(
        Gradients(pieces).first(in_place.count), segment.size,
        units_.rounding_constant(segment.tensor), is_parameter ? per_sample : per_minibatch,
        mean_here, is_parameter ? squares : of_no_parameter);
    show(/*is_in_cache=*/true);
    for (std::size_t i = 0; i < in_place.count; ++i) {
      sight.see(index, in_place.slots[i], looks.squares[i]);
    }
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
