// ReLU, in place: layers that are asked for Activation::relu apply it to their own output.
//
// It is a function and not a layer because a pass of its own over the activations costs as much as
// a small layer. Its derivative is taken from the output (positive or not), so nothing needs
// keeping; at 0 it is 0, as in PyTorch.
#pragma once

#include <span>

namespace rubato::nn {

void relu(std::span<float> values);
// Clears the gradient where the output is not positive.
void relu_backward(std::span<const float> output, std::span<float> gradient);

}  // namespace rubato::nn
