// Adds the minibatch gradients of one rank, in one pass over each.
//
// One pass makes three things: the sum (rounded to the exact sum's units first, or plain float),
// the gradient's squared norm, and each tensor's largest magnitude as an integer (which serves as
// maximum and as inf/NaN flag alike). Two gradients in one pass read and write the sums once. A
// rank's last gradients may stay where they are: then the pass only reads them, and whoever wants
// the sum rounds them (node_gradients.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "optim/exact_units.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

enum class SumKind { exact, fast };
SumKind sum_kind(const std::string& name);  // "exact", "fast"; throws std::invalid_argument
std::string to_string(SumKind kind);

class GradientAccumulator {
 public:
  // Where the sums are kept: double for the exact sum, float for the fast one.
  using Sums = std::variant<std::span<double>, std::span<float>>;

  // `segments`, of so many tensors, must outlive this; `sums` cover all of them.
  GradientAccumulator(const TensorSegments& segments, std::size_t tensors, Sums sums);

  void begin();  // a new update: the sums are empty
  // Adds one gradient; returns its squared norm over the parameters.
  double add(std::span<const float> gradient, const ExactUnits& units);
  // The same with two gradients.
  std::array<double, 2> add_two(std::span<const float> a, std::span<const float> b,
                                const ExactUnits& units);
  // Adds what is final of a gradient that is still being computed, from `from` on, in whole
  // segments: returns from where on that was. add() then adds the rest.
  std::size_t add_from(std::size_t from, std::span<const float> gradient, const ExactUnits& units);
  // As add() and add_from(), but the sums stay as they are.
  double look(std::span<const float> gradient);
  std::size_t look_from(std::size_t from, std::span<const float> gradient);

  // Has every segment of a gradient shown to `watch`, by its index, while it is in cache.
  using Watch = std::function<void(std::size_t, std::span<const float>)>;
  void show_segments_to(Watch watch) { watch_ = std::move(watch); }
  // Squared norms of the segments of the gradient last added or looked at.
  std::span<const double> squares() const noexcept { return squares_; }

  // Per tensor: bits of the largest |g| since begin().
  const std::vector<std::uint32_t>& largest_bits() const noexcept { return largest_bits_; }

 private:
  template <class Take>
  double finish(const Take& take);
  template <class Take>
  std::size_t take_from(std::size_t from, const Take& take);
  void add_segment(std::size_t index, std::span<const float> gradient, const ExactUnits& units);
  void look_at_segment(std::size_t index, std::span<const float> gradient);
  void note(std::size_t index, std::span<const float> gradient, double square,
            std::uint32_t largest_bits);
  void note_largest(std::size_t index, std::uint32_t bits);

  const TensorSegments& segments_;
  Sums sums_;
  Watch watch_;
  std::vector<double> squares_;         // of the gradient under way, of each segment
  std::vector<double> second_squares_;  // of the second of two
  std::size_t taken_from_ = 0;          // segments from here on have been taken of it
  std::vector<std::uint32_t> largest_bits_;
  bool is_empty_ = true;
};

}  // namespace rubato::optim
