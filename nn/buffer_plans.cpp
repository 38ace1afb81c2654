// One walk through the layers, backwards or forwards, as the pass will make it.
#include "nn/buffer_plans.hpp"

#include <stdexcept>
#include <string>

namespace rubato::nn {
namespace {

class Buffers {
 public:
  std::size_t take() {
    if (free_.empty()) return count_++;
    const std::size_t buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(std::size_t buffer) {
    if (buffer != absent) free_.push_back(buffer);
  }
  std::size_t count() const noexcept { return count_; }

 private:
  std::vector<std::size_t> free_;
  std::size_t count_ = 0;
};

// `buffer` holds a gradient of the layer's output from now on.
void deliver(std::size_t buffer, std::size_t layer, std::vector<GradientPlaces>& layers) {
  GradientPlaces& places = layers[layer];
  if (places.output == absent) {
    places.output = buffer;
  } else if (places.second_output == absent) {
    places.second_output = buffer;
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

GradientBuffers plan_gradient_buffers(std::span<const Wiring> layers) {
  Buffers buffers;
  std::vector<GradientPlaces> plan(layers.size());
  if (!layers.empty()) deliver(buffers.take(), layers.size() - 1, plan);
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const Wiring& wiring = layers[layer];
    require_earlier(wiring.input, layer);
    require_earlier(wiring.addend, layer);
    GradientPlaces& places = plan[layer];
    if (places.output == absent) {
      throw std::invalid_argument("nobody takes the output of layer " + std::to_string(layer));
    }
    const bool keeps_output = wiring.addend != absent;
    const bool shares = wiring.works_in_place && !keeps_output;
    if (wiring.input != absent) {
      places.input = shares ? places.output : buffers.take();
      deliver(places.input, wiring.input, plan);
    }
    buffers.give_back(places.second_output);
    if (keeps_output) {
      deliver(places.output, wiring.addend, plan);
    } else if (places.input != places.output) {
      buffers.give_back(places.output);
    }
  }
  return {std::move(plan), buffers.count()};
}

OutputBuffers plan_output_buffers(std::span<const Wiring> layers) {
  std::vector<std::size_t> last_user(layers.size(), absent);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source != absent) last_user[source] = layer;
    }
  }
  Buffers buffers;
  OutputBuffers plan;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    plan.layers.push_back(buffers.take());
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source == absent || last_user[source] != layer) continue;
      buffers.give_back(plan.layers[source]);
      last_user[source] = absent;  // a layer may take an output twice
    }
  }
  plan.count = buffers.count();
  return plan;
}

}  // namespace rubato::nn
