// Which buffer holds what between the layers: gradients during a backward pass, and outputs while a
// model is only evaluated. (In training every output has a buffer of its own, for the way back.)
//
// A chain needs two buffers, used in turn. Where an activation goes two ways (into a residual block
// and past it), it must be kept until both have taken it; on the way back two gradients come, and
// must both be kept until the layer that made the activation takes them. Buffers are given out last
// in, first out, so that what is written next is still in cache.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::nn {

inline constexpr std::size_t absent = static_cast<std::size_t>(-1);

// Where a layer takes its values from: numbers of earlier layers, `absent` for the model's input.
// Its own number is its place in the list.
struct Wiring {
  std::size_t input = absent;
  std::size_t addend = absent;  // absent: the layer has no addend
  bool works_in_place = false;
};

// Numbers of buffers.
struct GradientPlaces {
  std::size_t output = absent;
  std::size_t second_output = absent;  // to be added to it
  std::size_t input = absent;          // absent: nobody needs it
};

struct GradientBuffers {
  std::vector<GradientPlaces> layers;
  std::size_t count = 0;
};

// The last layer's gradient is that of the loss. A layer with an addend leaves the addend's
// gradient where its output's was. Throws std::invalid_argument where a layer takes its values from
// a later one, where nobody takes a layer's output, or where it goes more than two ways.
GradientBuffers plan_gradient_buffers(std::span<const Wiring> layers);

struct OutputBuffers {
  std::vector<std::size_t> layers;  // the number of the buffer of each layer's output
  std::size_t count = 0;
};

// For a pass forwards alone: an output is kept until the last layer that takes it has done so. Of
// layers that plan_gradient_buffers() takes.
OutputBuffers plan_output_buffers(std::span<const Wiring> layers);

}  // namespace rubato::nn
