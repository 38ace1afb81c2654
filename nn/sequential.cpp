// Forwards through the stages, the loss, backwards through the stages.
#include "nn/sequential.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "nn/compute_thread.hpp"
#include "nn/initial_values.hpp"
#include "nn/log_softmax_loss.hpp"

namespace rubato::nn {
namespace {

bool is_aligned(const float* address) {
  return reinterpret_cast<std::uintptr_t>(address) % cache_line_bytes == 0;
}

void require_size(const char* what, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  throw std::invalid_argument(std::string(what) + " has " + std::to_string(found) +
                              " floats, the model's layout needs " + std::to_string(expected));
}

// For layers that do not do so themselves.
void add_second_gradient(BackwardPass& pass) {
  for (std::size_t i = 0; i < pass.second_output_gradient.size(); ++i) {
    pass.output_gradient[i] += pass.second_output_gradient[i];
  }
  pass.second_output_gradient = {};
}

}  // namespace

Sequential::Sequential(std::vector<Link> layers) {
  if (layers.empty()) throw std::invalid_argument("a sequential model needs at least one layer");
  for (Link& link : layers) {
    stages_.push_back(
        Stage{std::move(link.layer), link.input, link.addend, {}, absent, {}, {}, {}, {}});
  }
  plan_buffers();
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const Stage& stage = stages_[s];
    const auto yields = [&](std::size_t source, const Shape& shape) {
      return source == absent ||
             stages_[source].layer->output_shape().elements() == shape.elements();
    };
    if (!yields(stage.input, stage.layer->input_shape())) {
      throw std::invalid_argument("layer " + std::to_string(s) +
                                  " does not take what its input yields");
    }
    if (!yields(stage.addend, stage.layer->output_shape())) {
      throw std::invalid_argument("layer " + std::to_string(s) +
                                  " does not yield as much as its addend");
    }
  }
  place_tensors(/*parameters=*/true);
  place_tensors(/*parameters=*/false);
}

void Sequential::plan_buffers() {
  std::vector<Wiring> wiring;
  for (const Stage& stage : stages_) {
    wiring.push_back({stage.input, stage.addend, stage.layer->abilities().works_in_place});
  }
  const GradientBuffers gradients = plan_gradient_buffers(wiring);
  const OutputBuffers outputs = plan_output_buffers(wiring);
  buffers_.resize(std::max(gradients.count, outputs.count));
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    stages_[s].gradient_places = gradients.layers[s];
    stages_[s].evaluation_place = outputs.layers[s];
  }
}

void Sequential::place_tensors(bool parameters) {
  for (Stage& stage : stages_) {
    const std::vector<TensorSpec> tensors = stage.layer->tensors();
    stage.tensors.resize(tensors.size());
    stage.values.resize(tensors.size());
    stage.gradients.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const TensorSpec& spec = tensors[i];
      if (spec.is_parameter != parameters) continue;
      stage.tensors[i] = parameters
                             ? layout_.add_parameter(spec.name, spec.shape)
                             : layout_.add_running_statistic(spec.name, spec.shape, spec.momentum);
      specs_.push_back(spec);
    }
  }
}

void Sequential::initialize(std::span<float> parameters, std::uint64_t seed) const {
  require_size("the parameter buffer", parameters.size(), layout_.total_elements());
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const TensorInfo& tensor = layout_.tensors()[i];
    fill_initial_values(specs_[i], seed, parameters.subspan(tensor.offset, tensor.size));
  }
  clear_padding(parameters);
}

void Sequential::use_parameters(std::span<const float> parameters) {
  require_size("the parameter buffer", parameters.size(), layout_.total_elements());
  hold_to_one_thread();
  if (!is_aligned(parameters.data())) {
    const std::span<float> copy = aligned_parameters_.first(parameters.size());
    std::copy(parameters.begin(), parameters.end(), copy.begin());
    parameters = copy;
  }
  for (Stage& stage : stages_) {
    for (std::size_t i = 0; i < stage.tensors.size(); ++i) {
      const TensorInfo& tensor = layout_.tensors()[stage.tensors[i]];
      stage.values[i] = parameters.subspan(tensor.offset, tensor.size);
    }
    stage.layer->use_parameters(stage.values);
  }
  has_parameters_ = true;
}

void Sequential::check(std::span<const float> inputs, std::span<const std::int32_t> labels) const {
  if (!has_parameters_) throw std::logic_error("use_parameters() must come before the first pass");
  if (labels.empty()) throw std::invalid_argument("a minibatch needs at least one sample");
  const std::size_t per_sample = stages_.front().layer->input_shape().elements();
  if (inputs.size() != labels.size() * per_sample) {
    throw std::invalid_argument("a minibatch of " + std::to_string(labels.size()) +
                                " samples needs " + std::to_string(labels.size() * per_sample) +
                                " inputs, " + std::to_string(per_sample) + " each, but has " +
                                std::to_string(inputs.size()));
  }
}

std::span<const float> Sequential::aligned_inputs(std::span<const float> inputs) {
  if (is_aligned(inputs.data())) return inputs;
  const std::span<float> copy = aligned_inputs_.first(inputs.size());
  std::copy(inputs.begin(), inputs.end(), copy.begin());
  return copy;
}

MinibatchLoss Sequential::gradient(const MinibatchView& minibatch, std::span<float> gradient) {
  check(minibatch.inputs, minibatch.labels);
  require_size("the gradient buffer", gradient.size(), layout_.total_elements());
  hold_to_one_thread();
  const std::size_t samples = minibatch.labels.size();
  const std::span<const float> inputs = aligned_inputs(minibatch.inputs);
  for (Stage& stage : stages_) {
    ForwardPass pass = forward_pass(stage, inputs, samples, Mode::training);
    pass.key = minibatch.key;
    stage.layer->forward(pass);
  }
  const MinibatchLoss loss = log_softmax_loss(
      stages_.back().output.first(samples * classes()), minibatch.labels, classes(),
      buffers_[stages_.back().gradient_places.output].first(samples * classes()));
  if (is_aligned(gradient.data())) {
    backward(inputs, samples, gradient, minibatch.is_final_from);
  } else {
    const std::span<float> aligned = aligned_gradient_.first(gradient.size());
    backward(inputs, samples, aligned, /*is_final_from=*/{});
    std::copy(aligned.begin(), aligned.end(), gradient.begin());
  }
  return loss;
}

AlignedBuffer<float>& Sequential::output_of(Stage& stage, Mode mode) {
  return mode == Mode::training ? stage.output : buffers_[stage.evaluation_place];
}

ForwardPass Sequential::forward_pass(Stage& stage, std::span<const float> inputs,
                                     std::size_t samples, Mode mode) {
  const std::size_t output_size = samples * stage.layer->output_shape().elements();
  ForwardPass pass;
  pass.output = output_of(stage, mode).first(output_size);
  pass.input = stage.input == absent ? inputs
                                     : output_of(stages_[stage.input], mode)
                                           .first(samples * stage.layer->input_shape().elements());
  if (stage.addend != absent) {
    pass.addend = output_of(stages_[stage.addend], mode).first(output_size);
  }
  return pass;
}

BackwardPass Sequential::backward_pass(Stage& stage, std::span<const float> inputs,
                                       std::size_t samples, std::span<float> gradient) {
  const ForwardPass forward = forward_pass(stage, inputs, samples, Mode::training);
  const GradientPlaces& places = stage.gradient_places;
  const auto at = [this](std::size_t buffer, std::size_t elements) {
    return buffer == absent ? std::span<float>{} : buffers_[buffer].first(elements);
  };
  for (std::size_t i = 0; i < stage.tensors.size(); ++i) {
    const TensorInfo& tensor = layout_.tensors()[stage.tensors[i]];
    stage.gradients[i] = gradient.subspan(tensor.offset, tensor.size);
  }
  BackwardPass pass;
  pass.input = forward.input;
  pass.output = forward.output;
  pass.output_gradient = at(places.output, forward.output.size());
  pass.second_output_gradient = at(places.second_output, forward.output.size());
  pass.input_gradient = at(places.input, forward.input.size());
  pass.tensor_gradients = stage.gradients;
  return pass;
}

void Sequential::backward(std::span<const float> inputs, std::size_t samples,
                          std::span<float> gradient, const IsFinalFrom& is_final_from) {
  std::size_t final_from = layout_.parameter_elements();
  for (std::size_t s = stages_.size(); s-- > 0;) {
    Stage& stage = stages_[s];
    BackwardPass pass = backward_pass(stage, inputs, samples, gradient);
    if (!stage.layer->abilities().adds_gradients) add_second_gradient(pass);
    stage.layer->backward(pass);
    for (const std::size_t tensor : stage.tensors) {
      clear_padding_after(tensor, gradient);
      final_from = std::min(final_from, layout_.tensors()[tensor].offset);
    }
    if (is_final_from) is_final_from(final_from);
  }
}

void Sequential::clear_padding(std::span<float> buffer) const {
  for (std::size_t i = 0; i < layout_.tensors().size(); ++i) clear_padding_after(i, buffer);
}

void Sequential::clear_padding_after(std::size_t tensor, std::span<float> buffer) const {
  const TensorInfo& info = layout_.tensors()[tensor];
  const bool is_last = tensor + 1 == layout_.tensors().size();
  const std::size_t begin = info.offset + info.size;
  const std::size_t end = is_last ? layout_.total_elements() : layout_.tensors()[tensor + 1].offset;
  const std::span<float> padding = buffer.subspan(begin, end - begin);
  std::fill(padding.begin(), padding.end(), 0.0F);
}

MinibatchLoss Sequential::evaluate(std::span<const float> inputs,
                                   std::span<const std::int32_t> labels,
                                   std::span<SampleLoss> each) {
  check(inputs, labels);
  hold_to_one_thread();
  const std::span<const float> aligned = aligned_inputs(inputs);
  for (Stage& stage : stages_) {
    stage.layer->evaluate(forward_pass(stage, aligned, labels.size(), Mode::evaluation));
  }
  const AlignedBuffer<float>& outputs = output_of(stages_.back(), Mode::evaluation);
  return log_softmax_loss(outputs.first(labels.size() * classes()), labels, classes(),
                          /*gradient=*/{}, each);
}

}  // namespace rubato::nn
