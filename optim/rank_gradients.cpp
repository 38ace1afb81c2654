#include "optim/rank_gradients.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::optim {

RankGradients::RankGradients(NodeGradients& node, GradientAccumulator& accumulator,
                             const ExactUnits& units, std::span<std::byte> sums)
    : node_(node),
      accumulator_(accumulator),
      units_(units),
      sums_(reinterpret_cast<float*>(sums.data())),
      most_places_(node.places_with(sums.size_bytes())) {}

void RankGradients::begin(std::size_t number, Adding adding) {
  number_ = number;
  places_ = are_few() ? most_places_ : NodeGradients::own_places;
  adding_ = adding;
  taken_ = 0;
  parts_ = {};
  square_of_waiting_ = nullptr;
  node_.set_parts(parts_);
  accumulator_.begin();
}

void RankGradients::take(std::span<const float> gradient, double& square) {
  gradient = put_in_place(gradient);
  const bool stays = this->stays(gradient);
  if (stays) {
    square = accumulator_.look(gradient);
  } else if (square_of_waiting_ != nullptr) {
    const auto [first, second] = accumulator_.add_two(node_.first_place(), gradient, units_);
    *square_of_waiting_ = first;
    square = second;
    square_of_waiting_ = nullptr;
  } else if (adding_ == Adding::in_pairs && is_in_place(gradient) && taken_ % places_ == 0) {
    square_of_waiting_ = &square;
  } else {
    square = accumulator_.add(gradient, units_);
  }
  parts_ = parts_with_next(stays);
  node_.set_parts(parts_);
  ++taken_;
}

void RankGradients::keep(std::span<const float> gradient, std::size_t slot) {
  require_room();
  if (!is_in_place(gradient)) node_.hand_over(gradient, place());
  parts_.slots[parts_.gradients++] = slot;
  node_.set_parts(parts_);
  ++taken_;
}

std::span<float> RankGradients::place_of_other(std::size_t number) const {
  if (!are_few()) throw std::logic_error("others' gradients beside an unknown number of one's own");
  return node_.place(NodeGradients::first_other(number_) + number, sums_);
}

void RankGradients::take_others(std::size_t number) {
  parts_.others = number;
  node_.set_parts(parts_);
}

void RankGradients::require_room() const {
  if (taken_ == number_) throw std::logic_error("more gradients than the rank said it has");
}

// Of a few; others stay where they are.
std::span<const float> RankGradients::put_in_place(std::span<const float> gradient) {
  require_room();
  if (!are_few() || is_in_place(gradient)) return gradient;
  std::ranges::copy(gradient, place().begin());
  return place();
}

std::size_t RankGradients::take_from(std::size_t from, std::span<const float> gradient) {
  if (are_few() && !is_in_place(gradient)) return gradient.size();  // take() copies all of it
  const bool stays = this->stays(gradient);
  node_.set_parts(parts_with_next(stays));
  return stays ? accumulator_.look_from(from, gradient)
               : accumulator_.add_from(from, gradient, units_);
}

bool RankGradients::is_in_place(std::span<const float> gradient) const {
  return number_ != any_number && gradient.data() == place().data();
}

// Of more than a few the last two stay, from the first place on: of an odd number only the last,
// because the one before it is in the second place.
bool RankGradients::stays(std::span<const float> gradient) const {
  return is_in_place(gradient) && taken_ + places_ >= number_ &&
         taken_ % places_ == parts_.gradients;
}

NodeGradients::Parts RankGradients::parts_with_next(bool stays) const {
  NodeGradients::Parts parts{.gradients = parts_.gradients, .has_sums = true};
  if (stays) parts = {.gradients = parts_.gradients + 1, .has_sums = parts_.has_sums};
  return parts;
}

}  // namespace rubato::optim
