// Inner products over parts of a gradient, in an order that no rank and no instruction set changes
// (norm_block.hpp).
#pragma once

#include <span>

#include "optim/measured_pieces.hpp"

namespace rubato::optim {

// sum a b, in double. Whole rows of lanes, all of the same size.
double product(std::span<const float> a, std::span<const float> b);
// sum (scale a) (scale b), of products in float, over pieces of a segment; scales one behind the
// other.
double product(const MeasuredPieces& pieces, std::span<const float> a, std::span<const float> b,
               std::span<const float> scales);
// sum (scale a)^2, likewise.
double square(const MeasuredPieces& pieces, std::span<const float> a,
              std::span<const float> scales);

}  // namespace rubato::optim
