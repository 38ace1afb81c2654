// Inner products over parts of a gradient, in an order that no rank and no instruction set changes
// (norm_block.hpp).
#pragma once

#include <span>

namespace rubato::optim {

// sum a b, in double. Whole rows of lanes, all of the same size.
double product(std::span<const float> a, std::span<const float> b);
// sum weight a b, in double.
double product(std::span<const float> a, std::span<const float> b, std::span<const float> weights);

}  // namespace rubato::optim
