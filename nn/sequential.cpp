// Forwards through the stages, the loss, backwards through the stages.
#include "nn/sequential.hpp"

#include <algorithm>
#include <functional>
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
    stages_.push_back(Stage{std::move(link.layer), link.input, link.addend, {}, {}, {}});
  }
  plan_memory();
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const Stage& stage = stages_[s];
    const auto yields = [&](std::size_t source, const Shape& shape) {
      if (source == absent) return shape.order == Order::channels_last;
      const Shape& yielded = stages_[source].layer->output_shape();
      return yielded.elements() == shape.elements() && yielded.order == shape.order;
    };
    if (!yields(stage.input, stage.layer->input_shape())) {
      throw std::invalid_argument("layer " + std::to_string(s) +
                                  " does not take what its input yields");
    }
    if (stage.addend != absent && !yields(stage.addend, stage.layer->output_shape())) {
      throw std::invalid_argument("layer " + std::to_string(s) + " does not fit its addend");
    }
  }
  place_tensors(/*parameters=*/true);
  place_tensors(/*parameters=*/false);
}

void Sequential::plan_memory() {
  std::vector<Wiring> wiring;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    wiring.push_back({whole_lines(output_size(s)), stages_[s].input, stages_[s].addend,
                      stages_[s].layer->abilities().works_in_place});
  }
  training_ = plan_training(wiring);
  evaluation_ = plan_evaluation(wiring);
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
  make_room(training_, samples);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    ForwardPass pass = forward_pass(training_, s, inputs, samples);
    pass.key = minibatch.key;
    stages_[s].layer->forward(pass);
  }
  const LayerPlaces& last = training_.layers.back();
  const MinibatchLoss loss =
      log_softmax_loss(at(last.output, samples, classes()), minibatch.labels, classes(),
                       at(last.output_gradient, samples, classes()));
  if (is_aligned(gradient.data())) {
    backward(inputs, minibatch, gradient, minibatch.is_final_from);
  } else {
    const std::span<float> aligned = aligned_gradient_.first(gradient.size());
    backward(inputs, minibatch, aligned, /*is_final_from=*/{});
    std::copy(aligned.begin(), aligned.end(), gradient.begin());
  }
  return loss;
}

std::span<float> Sequential::at(std::size_t place, std::size_t samples, std::size_t sample_size) {
  if (place == absent) return {};
  return memory_.all().subspan(samples * place, samples * sample_size);
}

ForwardPass Sequential::forward_pass(const MemoryPlan& plan, std::size_t stage,
                                     std::span<const float> inputs, std::size_t samples) {
  const auto output_of = [&](std::size_t s) {
    return at(plan.layers[s].output, samples, output_size(s));
  };
  const Stage& wired = stages_[stage];
  ForwardPass pass;
  pass.output = output_of(stage);
  pass.input = wired.input == absent ? inputs : output_of(wired.input);
  if (wired.addend != absent) pass.addend = output_of(wired.addend);
  return pass;
}

BackwardPass Sequential::backward_pass(std::size_t stage, std::span<const float> inputs,
                                       std::size_t samples) {
  const ForwardPass forward = forward_pass(training_, stage, inputs, samples);
  const LayerPlaces& places = training_.layers[stage];
  const Stage& wired = stages_[stage];
  BackwardPass pass;
  pass.input = forward.input;
  pass.output = forward.output;
  pass.output_gradient = at(places.output_gradient, samples, output_size(stage));
  pass.second_output_gradient = at(places.second_output_gradient, samples, output_size(stage));
  pass.input_gradient = at(places.input_gradient, samples, wired.layer->input_shape().elements());
  pass.tensor_gradients = wired.gradients;
  return pass;
}

void Sequential::place_gradients(std::span<float> gradient) {
  for (Stage& stage : stages_) {
    for (std::size_t i = 0; i < stage.tensors.size(); ++i) {
      const TensorInfo& tensor = layout_.tensors()[stage.tensors[i]];
      stage.gradients[i] = gradient.subspan(tensor.offset, tensor.size);
    }
  }
}

void Sequential::write_statistics(std::span<float> gradient) {
  for (const Stage& stage : stages_) stage.layer->write_statistics(stage.gradients);
  for (std::size_t i = 0; i < layout_.tensors().size(); ++i) {
    if (!layout_.tensors()[i].is_parameter) clear_padding_after(i, gradient);
  }
}

void Sequential::backward(std::span<const float> inputs, const MinibatchView& minibatch,
                          std::span<float> gradient, const IsFinalFrom& is_final_from) {
  const std::size_t samples = minibatch.labels.size();
  place_gradients(gradient);
  write_statistics(gradient);
  std::size_t final_from = layout_.parameter_elements();
  for (std::size_t s = stages_.size(); s-- > 0;) {
    Stage& stage = stages_[s];
    BackwardPass pass = backward_pass(s, inputs, samples);
    if (!stage.layer->abilities().adds_gradients) add_second_gradient(pass);
    const auto finish_tensors = [&] {
      for (auto tensor = stage.tensors.rbegin(); tensor != stage.tensors.rend(); ++tensor) {
        const std::size_t offset = layout_.tensors()[*tensor].offset;
        if (offset >= final_from) continue;  // final already
        clear_padding_after(*tensor, gradient);
        final_from = offset;
      }
      if (is_final_from) is_final_from(final_from);
    };
    if (is_final_from) pass.tensors_are_final = std::ref(finish_tensors);  // allocates nothing
    const auto tell_factors = [&] {
      minibatch.take_factors({stage.tensors.front(), pass.output_gradient, pass.input});
    };
    if (minibatch.take_factors) pass.factors_are_final = std::ref(tell_factors);
    stage.layer->backward(pass);
    finish_tensors();
  }
}

std::vector<std::size_t> Sequential::factored_tensors() const {
  std::vector<std::size_t> factored;
  for (const Stage& stage : stages_) {
    if (stage.layer->abilities().has_factors) factored.push_back(stage.tensors.front());
  }
  return factored;
}

void Sequential::multiply_factors(const Factors& factors, std::span<float> gradient) {
  const auto stage = std::ranges::find_if(stages_, [&](const Stage& s) {
    return s.layer->abilities().has_factors && s.tensors.front() == factors.tensor;
  });
  if (stage == stages_.end()) return Model::multiply_factors(factors, gradient);
  hold_to_one_thread();
  stage->layer->multiply_factors(factors.output_gradients, factors.inputs, gradient);
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
  const std::size_t samples = labels.size();
  const std::span<const float> aligned = aligned_inputs(inputs);
  make_room(evaluation_, samples);
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    stages_[s].layer->evaluate(forward_pass(evaluation_, s, aligned, samples));
  }
  return log_softmax_loss(at(evaluation_.layers.back().output, samples, classes()), labels,
                          classes(), /*gradient=*/{}, each);
}

}  // namespace rubato::nn
