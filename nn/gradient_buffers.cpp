// One walk backwards through the layers, as the backward pass will make it.
#include "nn/gradient_buffers.hpp"

#include <stdexcept>
#include <string>

namespace rubato::nn {
namespace {

class Plan {
 public:
  explicit Plan(std::size_t layers) { buffers_.layers.resize(layers); }

  std::size_t take() {
    if (free_.empty()) return buffers_.count++;
    const std::size_t buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(std::size_t buffer) {
    if (buffer != absent) free_.push_back(buffer);
  }
  // `buffer` holds a gradient of the layer's output from now on.
  void deliver(std::size_t layer, std::size_t buffer) {
    GradientPlaces& places = buffers_.layers[layer];
    if (places.output == absent) {
      places.output = buffer;
    } else if (places.second_output == absent) {
      places.second_output = buffer;
    } else {
      throw std::invalid_argument("the output of layer " + std::to_string(layer) +
                                  " goes more than two ways");
    }
  }
  GradientPlaces& places(std::size_t layer) { return buffers_.layers[layer]; }
  GradientBuffers finish() { return std::move(buffers_); }

 private:
  GradientBuffers buffers_;
  std::vector<std::size_t> free_;
};

void require_earlier(std::size_t source, std::size_t layer) {
  if (source == absent || source < layer) return;
  throw std::invalid_argument("layer " + std::to_string(layer) + " takes its values from layer " +
                              std::to_string(source) + ", which does not come before it");
}

}  // namespace

GradientBuffers plan_gradient_buffers(std::span<const Wiring> layers) {
  Plan plan(layers.size());
  if (!layers.empty()) plan.deliver(layers.size() - 1, plan.take());
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const Wiring& wiring = layers[layer];
    require_earlier(wiring.input, layer);
    require_earlier(wiring.addend, layer);
    GradientPlaces& places = plan.places(layer);
    if (places.output == absent) {
      throw std::invalid_argument("nobody takes the output of layer " + std::to_string(layer));
    }
    const bool keeps_output = wiring.addend != absent;
    const bool shares = wiring.works_in_place && !keeps_output;
    if (wiring.input != absent) {
      places.input = shares ? places.output : plan.take();
      plan.deliver(wiring.input, places.input);
    }
    plan.give_back(places.second_output);
    if (keeps_output) {
      plan.deliver(wiring.addend, places.output);
    } else if (places.input != places.output) {
      plan.give_back(places.output);
    }
  }
  return plan.finish();
}

}  // namespace rubato::nn
