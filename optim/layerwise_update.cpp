#include "optim/layerwise_update.hpp"

#include <algorithm>
#include <utility>

#include "optim/squared_norm.hpp"

namespace rubato::optim {

LayerwiseUpdate::LayerwiseUpdate(const LayerwiseOptimizer<float>& optimizer, GradientSync& sync,
                                 WeightWriter& writer, std::span<float> parameters,
                                 std::vector<std::span<float>> state)
    : optimizer_(optimizer),
      sync_(sync),
      writer_(writer),
      parameters_(parameters),
      state_(std::move(state)),
      norms_(std::make_shared<TensorNorms>(sync.topology(), sync.segments())),
      parts_(parts_of_my_slice()),
      state_of_segment_(state_.size()) {
  sync.show_mean_to([norms = norms_](std::size_t begin, std::span<const float> mean,
                                     double square) { norms->note_gradient(begin, mean, square); });
}

std::vector<LayerwiseUpdate::Part> LayerwiseUpdate::parts_of_my_slice() const {
  const collectives::Slice slice = sync_.my_slice();
  const TensorSegments& segments = sync_.segments();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < segments.parameters(); ++i) {
    const Segment& segment = segments.all()[i];
    if (segment.begin < slice.begin || segment.begin >= slice.end()) continue;
    if (parts.empty() || parts.back().tensor != segment.tensor) {
      parts.push_back({segment.tensor, i, i, false});
    }
    Part& part = parts.back();
    part.end_segment = i + 1;
    part.is_whole = part.first_segment == norms_->first_of(part.tensor) &&
                    part.end_segment == norms_->first_of(part.tensor + 1);
  }
  return parts;
}

void LayerwiseUpdate::run() {
  if (!has_weights_) measure_weights();
  const bool makes_directions = optimizer_.makes_directions();
  for (const Part& part : parts_) {
    if (makes_directions) make_direction(part);
    if (!makes_directions || part.is_whole) step(part);
  }
  if (makes_directions) {
    sync_.barrier();
    for (const Part& part : parts_) {
      if (!part.is_whole) step(part);
    }
  }
  norms_->turn();
}

void LayerwiseUpdate::measure_weights() {
  for (const Part& part : parts_) {
    for (std::size_t i = part.first_segment; i < part.end_segment; ++i) {
      const Segment& segment = sync_.segments().all()[i];
      norms_->note_new_weights(
          i,
          squared_norm(std::span<const float>(parameters_.subspan(segment.begin, segment.size))));
    }
  }
  norms_->turn();
  sync_.barrier();
  has_weights_ = true;
}

void LayerwiseUpdate::make_direction(const Part& part) {
  const bool is_vector = sync_.tensors()[part.tensor].is_vector;
  for (std::size_t i = part.first_segment; i < part.end_segment; ++i) {
    norms_->note_direction(i, optimizer_.make_direction(elements_of(i), is_vector));
  }
}

void LayerwiseUpdate::step(const Part& part) {
  TensorFacts tensor{.weight_square = norms_->weights(part.tensor),
                     .gradient_square = norms_->gradient(part.tensor),
                     .is_vector = sync_.tensors()[part.tensor].is_vector};
  if (optimizer_.makes_directions()) tensor.direction_square = norms_->direction(part.tensor);
  for (std::size_t i = part.first_segment; i < part.end_segment; ++i) {
    TensorPart<float> elements = elements_of(i);
    const auto take_step = [&](std::span<float> parameters) {
      elements.parameters = parameters;
      norms_->note_new_weights(i, optimizer_.step(elements, tensor));
    };
    if (optimizer_.makes_directions()) {
      take_step(elements.parameters);  // it has just read them
    } else {
      writer_.write_whole(elements.parameters, take_step);
    }
  }
}

TensorPart<float> LayerwiseUpdate::elements_of(std::size_t segment) {
  const std::size_t begin = sync_.segments().all()[segment].begin;
  const std::size_t size = sync_.segments().all()[segment].size;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_of_segment_[i] = state_[i].subspan(begin, size);
  }
  return {parameters_.subspan(begin, size), sync_.mean_gradient().subspan(begin, size),
          state_of_segment_};
}

}  // namespace rubato::optim
