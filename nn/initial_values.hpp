// Initial values of a tensor: uniform in an interval or normal around 0, from a stream keyed by
// (seed, tensor name).
//
// A tensor's values depend on nothing else: not on its place in the buffer, nor on the tensors
// before it. The distributions are PyTorch's defaults (layers choose the interval); the numbers
// themselves are not PyTorch's.
#pragma once

#include <cstdint>
#include <span>

#include "nn/layer.hpp"

namespace rubato::nn {

void fill_initial_values(const TensorSpec& tensor, std::uint64_t seed, std::span<float> values);

}  // namespace rubato::nn
