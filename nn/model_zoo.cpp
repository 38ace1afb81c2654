// The built-in models, each a few lines that add layers to a model.
#include "nn/model_zoo.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "nn/model_builder.hpp"
#include "nn/residual_networks.hpp"

namespace rubato::nn {
namespace {

constexpr std::size_t largest_layer = 1'000'000;

// "name:parameters" as the user wrote it.
struct Spec {
  std::string whole;
  std::string name;
  std::string parameters;
  bool has_parameters;
};

Spec split(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos) return {spec, spec, "", false};
  return {spec, spec.substr(0, colon), spec.substr(colon + 1), true};
}

[[noreturn]] void refuse(const Spec& spec, const std::string& reason) {
  throw std::invalid_argument("model \"" + spec.whole + "\": " + reason);
}

void require_no_parameters(const Spec& spec) {
  if (spec.has_parameters) refuse(spec, spec.name + " takes no parameters; write " + spec.name);
}

// "512,256" to {512, 256}.
std::vector<std::size_t> layer_sizes(const Spec& spec) {
  std::vector<std::size_t> sizes;
  const char* position = spec.parameters.data();
  const char* const end = position + spec.parameters.size();
  while (true) {
    std::size_t size = 0;
    const auto [after, error] = std::from_chars(position, end, size);
    if (error != std::errc{} || size == 0 || size > largest_layer ||
        (after != end && *after != ',')) {
      refuse(spec, "hidden layer " + std::to_string(sizes.size() + 1) +
                       " needs a whole number from 1 to " + std::to_string(largest_layer) +
                       ", sizes separated by commas as in mlp:512,512");
    }
    sizes.push_back(size);
    if (after == end) return sizes;
    position = after + 1;
  }
}

void add_linear(const Spec& spec, std::size_t classes, ModelBuilder& model) {
  require_no_parameters(spec);
  model.flatten();
  model.dense("fc", classes, Activation::none);
}

void add_mlp(const Spec& spec, std::size_t classes, ModelBuilder& model) {
  if (!spec.has_parameters) refuse(spec, "mlp needs hidden layer sizes, as in mlp:512,512");
  const std::vector<std::size_t> sizes = layer_sizes(spec);
  model.flatten();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    model.dense("fc" + std::to_string(i + 1), sizes[i], Activation::relu);
  }
  model.dense("fc" + std::to_string(sizes.size() + 1), classes, Activation::none);
}

void add_mnist(const Spec& spec, std::size_t classes, ModelBuilder& model) {
  require_no_parameters(spec);
  model.convolution("conv1", 10, 5);
  model.max_pool("pool1", Activation::relu);
  model.batch_norm("bn1");
  model.convolution("conv2", 20, 5);
  model.max_pool("pool2", Activation::relu);
  model.batch_norm("bn2");
  model.flatten();
  model.dense("fc1", 50, Activation::relu);
  model.dense("fc2", classes, Activation::none);
}

void add_mnist_tutorial(const Spec& spec, std::size_t classes, ModelBuilder& model) {
  if (spec.has_parameters && spec.parameters != "dropout=0") {
    refuse(spec, "its only parameter is dropout=0, which switches dropout off");
  }
  const bool has_dropout = !spec.has_parameters;
  model.convolution("conv1", 32, 3, Activation::relu);
  model.allow_blocks();  // conv1 has passes of our own for one channel, which know no blocks
  model.convolution("conv2", 64, 3);
  model.max_pool("pool", Activation::relu);  // conv2's ReLU, taken after the pool
  model.dropout(has_dropout ? 0.25 : 0);
  model.flatten();
  model.dense("fc1", 128, Activation::relu);
  model.dropout(has_dropout ? 0.5 : 0);
  model.dense("fc2", classes, Activation::none);
}

template <void (*add)(ModelBuilder& model, std::size_t classes)>
void add_residual_network(const Spec& spec, std::size_t classes, ModelBuilder& model) {
  require_no_parameters(spec);
  add(model, classes);
}

struct Entry {
  const char* name;
  void (*add)(const Spec& spec, std::size_t classes, ModelBuilder& model);
};

constexpr Entry models[] = {{"linear", add_linear},
                            {"mlp", add_mlp},
                            {"mnist", add_mnist},
                            {"mnist-tutorial", add_mnist_tutorial},
                            {"resnet20", add_residual_network<add_resnet20>},
                            {"resnet32", add_residual_network<add_resnet32>},
                            {"resnet56", add_residual_network<add_resnet56>},
                            {"resnet18", add_residual_network<add_resnet18>},
                            {"resnet50", add_residual_network<add_resnet50>}};

[[noreturn]] void refuse_unknown(const Spec& spec) {
  std::string names;
  for (const std::string& name : model_names()) names += (names.empty() ? "" : ", ") + name;
  refuse(spec, "there is no model of that name; valid are " + names);
}

}  // namespace

std::unique_ptr<Model> make_model(const std::string& text, InputShape input, std::size_t classes,
                                  Backend backend) {
  const Spec spec = split(text);
  if (classes == 0) refuse(spec, "it needs at least one class");
  if (input.height * input.width * input.channels == 0) refuse(spec, "the input shape is empty");
  for (const Entry& model : models) {
    if (spec.name != model.name) continue;
    ModelBuilder builder({input.height, input.width, input.channels}, backend);
    try {
      model.add(spec, classes, builder);
    } catch (const std::invalid_argument& error) {
      if (std::string(error.what()).starts_with("model ")) throw;
      refuse(spec, error.what());
    }
    return builder.finish();
  }
  refuse_unknown(spec);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& model : models) names.emplace_back(model.name);
  return names;
}

}  // namespace rubato::nn
