// Walks through the layers as the passes will.
#include "nn/memory_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace rubato::nn {
namespace {

class Memory {
 public:
  // The free place that begins first.
  std::size_t take(std::size_t size) {
    std::size_t begin = 0;
    auto next = taken_.begin();
    for (; next != taken_.end() && next->begin < begin + size; ++next) {
      begin = std::max(begin, next->end);
    }
    taken_.insert(next, {begin, begin + size});
    size_ = std::max(size_, begin + size);
    return begin;
  }
  void give_back(std::size_t begin) {
    std::erase_if(taken_, [=](const Range& range) { return range.begin == begin; });
  }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Range {
    std::size_t begin, end;
  };
  std::vector<Range> taken_;  // in order, apart from each other
  std::size_t size_ = 0;
};

// A gradient of the layer's output lies at `place` from now on.
void deliver(std::size_t place, std::size_t layer, std::vector<LayerPlaces>& layers) {
  LayerPlaces& places = layers[layer];
  if (places.output_gradient == absent) {
    places.output_gradient = place;
  } else if (places.second_output_gradient == absent) {
    places.second_output_gradient = place;
  } else {
    throw std::invalid_argument("the output of layer " + std::to_string(layer) +
                                " goes more than two ways");
  }
}

void require_earlier(std::size_t source, std::size_t layer) {
  if (source == absent || source < layer) return;
  throw std::invalid_argument("layer " + std::to_string(layer) + " takes its values from layer " +
                              std::to_string(source) + ", which does not come before it");
}

}  // namespace

MemoryPlan plan_training(std::span<const Wiring> layers) {
  Memory memory;
  MemoryPlan plan{.layers = std::vector<LayerPlaces>(layers.size())};
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    require_earlier(layers[layer].input, layer);
    require_earlier(layers[layer].addend, layer);
    plan.layers[layer].output = memory.take(layers[layer].output_size);
  }
  if (!layers.empty()) {
    deliver(memory.take(layers.back().output_size), layers.size() - 1, plan.layers);
  }
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const Wiring& wiring = layers[layer];
    LayerPlaces& places = plan.layers[layer];
    if (places.output_gradient == absent) {
      throw std::invalid_argument("nobody takes the output of layer " + std::to_string(layer));
    }
    const bool keeps_output = wiring.addend != absent;
    const bool shares = wiring.works_in_place && !keeps_output;
    if (wiring.input != absent) {
      places.input_gradient =
          shares ? places.output_gradient : memory.take(layers[wiring.input].output_size);
      deliver(places.input_gradient, wiring.input, plan.layers);
    }
    memory.give_back(places.output);
    memory.give_back(places.second_output_gradient);
    if (keeps_output) {
      deliver(places.output_gradient, wiring.addend, plan.layers);
    } else if (places.input_gradient != places.output_gradient) {
      memory.give_back(places.output_gradient);
    }
  }
  plan.size = memory.size();
  return plan;
}

MemoryPlan plan_evaluation(std::span<const Wiring> layers) {
  std::vector<std::size_t> last_user(layers.size(), absent);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source != absent) last_user[source] = layer;
    }
  }
  Memory memory;
  MemoryPlan plan{.layers = std::vector<LayerPlaces>(layers.size())};
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    LayerPlaces& places = plan.layers[layer];
    places.output = memory.take(layers[layer].output_size);
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source == absent || last_user[source] != layer) continue;
      memory.give_back(plan.layers[source].output);
    }
  }
  plan.size = memory.size();
  return plan;
}

}  // namespace rubato::nn
