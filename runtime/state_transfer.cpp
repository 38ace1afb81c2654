// Tensors are matched by name and in the layout's order, so that the same state gives the same
// file.
#include "runtime/state_transfer.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "data/errors.hpp"

namespace rubato::runtime {

namespace {

// A tensor of the state and its place in the node's memory.
struct Place {
  std::string name;
  const std::vector<std::size_t>* shape;
  std::span<float> values;
};

std::vector<Place> model_places(const nn::Layout& layout, std::span<float> parameters) {
  std::vector<Place> places;
  for (const nn::TensorInfo& tensor : layout.tensors()) {
    places.push_back({tensor.name, &tensor.shape, parameters.subspan(tensor.offset, tensor.size)});
  }
  return places;
}

std::vector<Place> model_places(const Replica& replica) {
  return model_places(replica.layout(), replica.shared().parameters);
}

std::vector<Place> optimizer_places(const Replica& replica) {
  std::vector<Place> places;
  for (std::size_t i = 0; i < replica.optimizer_state_names().size(); ++i) {
    for (const nn::TensorInfo& tensor : replica.layout().tensors()) {
      if (!tensor.is_parameter) continue;
      places.push_back({replica.optimizer_state_names()[i] + "/" + tensor.name, &tensor.shape,
                        replica.shared().optimizer_state[i].subspan(tensor.offset, tensor.size)});
    }
  }
  return places;
}

void copy_out(const std::vector<Place>& places, std::vector<NamedTensor>& tensors) {
  tensors.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    tensors[i].name = places[i].name;
    tensors[i].shape = *places[i].shape;
    tensors[i].values.assign(places[i].values.begin(), places[i].values.end());
  }
}

template <class Named>
const Named& find(const std::vector<Named>& all, const std::string& name, const char* of_what) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found != all.end()) return *found;
  throw data::ContentError(std::string("the checkpoint has no ") + of_what + " for " + name);
}

void require_tensors(const std::vector<NamedTensor>& tensors, const std::vector<Place>& places) {
  for (const Place& place : places) {
    if (find(tensors, place.name, "values").shape == *place.shape) continue;
    throw data::ContentError("the checkpoint has another shape for " + place.name);
  }
  if (tensors.size() != places.size()) {
    throw data::ContentError("the checkpoint has " + std::to_string(tensors.size()) +
                             " tensors where the run has " + std::to_string(places.size()));
  }
}

void copy_in(const std::vector<NamedTensor>& tensors, const std::vector<Place>& places) {
  for (const Place& place : places) {
    std::ranges::copy(find(tensors, place.name, "values").values, place.values.begin());
  }
}

std::vector<std::int32_t> exponents_of(const TrainingState& state, const nn::Layout& layout) {
  std::vector<std::int32_t> exponents;
  for (const nn::TensorInfo& tensor : layout.tensors()) {
    exponents.push_back(find(state.exact_exponents, tensor.name, "unit").exponent);
  }
  return exponents;
}

}  // namespace

void copy_state(const StateParts& parts, TrainingState& state) {
  state.seed = parts.seed;
  state.rule = parts.optimizer.rule();
  state.cursor = parts.cursor;
  state.audit = parts.audit;
  copy_out(model_places(parts.replica), state.model);
  copy_out(optimizer_places(parts.replica), state.optimizer);
  state.scalars = parts.optimizer.scalars();
  state.exact_exponents.clear();
  if (parts.sync.kind() != optim::SumKind::exact) return;
  const std::vector<nn::TensorInfo>& tensors = parts.replica.layout().tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    state.exact_exponents.push_back({tensors[i].name, parts.sync.units().exponents()[i]});
  }
}

void copy_weights(const TrainingState& state, const nn::Layout& layout,
                  std::span<float> parameters) {
  std::ranges::fill(parameters, 0.0F);
  const std::vector<Place> places = model_places(layout, parameters);
  require_tensors(state.model, places);
  copy_in(state.model, places);
}

void require_fit(const TrainingState& state, const StateParts& parts) {
  require_tensors(state.model, model_places(parts.replica));
  require_tensors(state.optimizer, optimizer_places(parts.replica));
  if (parts.sync.kind() == optim::SumKind::exact) exponents_of(state, parts.replica.layout());
}

void restore_state(const TrainingState& state, const collectives::Topology& topology,
                   const StateParts& parts) {
  const std::vector<Place> model = model_places(parts.replica);
  const std::vector<Place> optimizer = optimizer_places(parts.replica);
  require_fit(state, parts);
  try {
    parts.optimizer.restore_scalars(state.scalars);
  } catch (const std::invalid_argument& error) {
    throw data::ContentError(error.what());
  }
  if (parts.sync.kind() == optim::SumKind::exact) {
    parts.sync.units().restore(exponents_of(state, parts.replica.layout()));
  }
  parts.cursor = state.cursor;
  parts.audit = state.audit;
  if (topology.node().rank() == 0) {
    copy_in(state.model, model);
    copy_in(state.optimizer, optimizer);
  }
  topology.node().barrier();
  parts.replica.use_new_weights();
}

}  // namespace rubato::runtime
