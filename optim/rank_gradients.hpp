// What becomes of one rank's gradients during an update.
//
// If there are only a few, all stay where they were computed (node_gradients.hpp). Of more, the
// last one or two do; those before them go into the rank's sums two at a time, the first waiting in
// its place for the second. Gradients that the caller has computed elsewhere are added as they
// come, or copied into a place if there are only a few.
#pragma once

#include <cstddef>
#include <span>

#include "optim/exact_units.hpp"
#include "optim/gradient_accumulator.hpp"
#include "optim/node_gradients.hpp"

namespace rubato::optim {

class RankGradients {
 public:
  static constexpr std::size_t any_number = static_cast<std::size_t>(-1);
  enum class Adding { in_pairs, singly };  // singly, where each gradient is measured by others too

  // All must outlive this. `sums`: the memory that the accumulator adds into, where the whole node
  // sees it, and so may read gradients there; else empty.
  RankGradients(NodeGradients& node, GradientAccumulator& accumulator, const ExactUnits& units,
                std::span<std::byte> sums);

  // A new update, in which the rank has so many gradients, where that is known.
  void begin(std::size_t number = any_number, Adding adding = Adding::in_pairs);

  // How many are a few.
  std::size_t most_places() const noexcept { return most_places_; }

  // Where to compute the next one; another place after each take().
  std::span<float> place() const { return node_.place(taken_ % places_, sums_); }

  // Of a few, known in begin(): where to write the gradients of other nodes' minibatches, of the
  // blocks that the node shares, and that there are so many of them.
  std::span<float> place_of_other(std::size_t number) const;
  void take_others(std::size_t number);

  // Takes the next one. Writes its squared norm to `square`, at the latest when the one after it is
  // taken.
  void take(std::span<const float> gradient, double& square);
  // Takes the next one of a few, of that slot of the update, without looking at it. If it was
  // computed elsewhere, this rank need not read most of it again.
  void keep(std::span<const float> gradient, std::size_t slot);
  // As take(), while it is being computed: what is from `from` on is final. Returns from where on
  // that was of use. take() then takes the rest.
  std::size_t take_from(std::size_t from, std::span<const float> gradient);

 private:
  void require_room() const;
  std::span<const float> put_in_place(std::span<const float> gradient);
  bool is_in_place(std::span<const float> gradient) const;
  bool are_few() const { return number_ <= most_places_; }
  // Whether the next gradient stays where it is, and what the node finds then.
  bool stays(std::span<const float> gradient) const;
  NodeGradients::Parts parts_with_next(bool stays) const;

  NodeGradients& node_;
  GradientAccumulator& accumulator_;
  const ExactUnits& units_;
  float* sums_;
  std::size_t most_places_;
  std::size_t places_ = NodeGradients::own_places;  // used in turn
  std::size_t number_ = any_number;
  Adding adding_ = Adding::in_pairs;
  std::size_t taken_ = 0;
  NodeGradients::Parts parts_;
  double* square_of_waiting_ = nullptr;  // of a gradient that is to be added with the next one
};

}  // namespace rubato::optim
