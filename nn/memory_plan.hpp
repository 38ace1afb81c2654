// Where the values between the layers lie, in one piece of memory that all passes of a model share.
//
// In training every output is kept from the way forwards to the way back, one behind the other. On
// the way back, gradients of outputs take the places of outputs that nobody needs any more; only
// those of the last layers lie behind them all. In an evaluation an output is kept until its last
// user has had it.
//
// An output may go two ways (into a residual block and past it): then two gradients come, and both
// are kept until the layer that made the output takes them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rubato::nn {

inline constexpr std::size_t absent = static_cast<std::size_t>(-1);

// A layer: how much it yields, and where it takes its values from, numbers of earlier layers or
// `absent` for the model's input. Its own number is its place in the list.
struct Wiring {
  std::size_t output_size = 0;
  std::size_t input = absent;
  std::size_t addend = absent;  // absent: the layer has no addend
  bool works_in_place = false;  // on the way back; its input is as large as its output
};

// Sizes and places are in whatever `output_size` is in; `absent` for what there is not.
struct LayerPlaces {
  std::size_t output = absent;
  // In training. A layer with an addend leaves the addend's gradient where its output's was.
  std::size_t output_gradient = absent;
  std::size_t second_output_gradient = absent;  // to be added to it
  std::size_t input_gradient = absent;
};

struct MemoryPlan {
  std::vector<LayerPlaces> layers;
  std::size_t size = 0;
};

// The last layer's gradient is that of the loss. Throws std::invalid_argument where a layer takes
// its values from a later one, where nobody takes a layer's output, or where it goes more than two
// ways.
MemoryPlan plan_training(std::span<const Wiring> layers);

// Forwards alone, of layers that plan_training() takes.
MemoryPlan plan_evaluation(std::span<const Wiring> layers);

}  // namespace rubato::nn
