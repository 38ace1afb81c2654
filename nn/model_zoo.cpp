// The built-in models, each a few lines that add layers to a chain.
#include "nn/model_zoo.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

#include "nn/batch_norm.hpp"
#include "nn/convolution.hpp"
#include "nn/dense.hpp"
#include "nn/dropout.hpp"
#include "nn/flatten.hpp"
#include "nn/max_pool.hpp"
#include "nn/sequential.hpp"

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

// Grows a chain of layers, each taking what the one before yields.
class Chain {
 public:
  Chain(InputShape input, Backend backend)
      : shape_{input.height, input.width, input.channels}, backend_(backend) {}

  void convolution(const std::string& name, std::size_t outputs, std::size_t kernel,
                   Activation activation) {
    add(make_convolution({name, shape_, outputs, kernel, activation}, backend_));
  }
  void max_pool(const std::string& name, Activation activation) {
    add(std::make_unique<MaxPool>(name, shape_, activation));
  }
  void batch_norm(const std::string& name) { add(std::make_unique<BatchNorm>(name, shape_)); }
  void dropout(double probability) {
    if (probability == 0) return;
    add(std::make_unique<Dropout>(shape_, probability, static_cast<std::uint32_t>(layers_.size())));
  }
  void flatten() {
    if (shape_.channels == 1 || shape_.pixels() == 1) return;  // already in PyTorch's order
    add(std::make_unique<Flatten>(shape_));
  }
  void dense(const std::string& name, std::size_t outputs, Activation activation) {
    add(std::make_unique<Dense>(name, shape_, outputs, activation, backend_));
  }
  std::unique_ptr<Model> finish() { return std::make_unique<Sequential>(std::move(layers_)); }

 private:
  void add(std::unique_ptr<Layer> layer) {
    shape_ = layer->output_shape();
    layers_.push_back(std::move(layer));
  }

  Shape shape_;
  Backend backend_;
  std::vector<std::unique_ptr<Layer>> layers_;
};

void add_linear(const Spec& spec, std::size_t classes, Chain& chain) {
  require_no_parameters(spec);
  chain.flatten();
  chain.dense("fc", classes, Activation::none);
}

void add_mlp(const Spec& spec, std::size_t classes, Chain& chain) {
  if (!spec.has_parameters) refuse(spec, "mlp needs hidden layer sizes, as in mlp:512,512");
  const std::vector<std::size_t> sizes = layer_sizes(spec);
  chain.flatten();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    chain.dense("fc" + std::to_string(i + 1), sizes[i], Activation::relu);
  }
  chain.dense("fc" + std::to_string(sizes.size() + 1), classes, Activation::none);
}

void add_mnist(const Spec& spec, std::size_t classes, Chain& chain) {
  require_no_parameters(spec);
  chain.convolution("conv1", 10, 5, Activation::none);
  chain.max_pool("pool1", Activation::relu);
  chain.batch_norm("bn1");
  chain.convolution("conv2", 20, 5, Activation::none);
  chain.max_pool("pool2", Activation::relu);
  chain.batch_norm("bn2");
  chain.flatten();
  chain.dense("fc1", 50, Activation::relu);
  chain.dense("fc2", classes, Activation::none);
}

void add_mnist_tutorial(const Spec& spec, std::size_t classes, Chain& chain) {
  if (spec.has_parameters && spec.parameters != "dropout=0") {
    refuse(spec, "its only parameter is dropout=0, which switches dropout off");
  }
  const bool has_dropout = !spec.has_parameters;
  chain.convolution("conv1", 32, 3, Activation::relu);
  chain.convolution("conv2", 64, 3, Activation::none);
  chain.max_pool("pool", Activation::relu);  // conv2's ReLU, taken after the pool
  chain.dropout(has_dropout ? 0.25 : 0);
  chain.flatten();
  chain.dense("fc1", 128, Activation::relu);
  chain.dropout(has_dropout ? 0.5 : 0);
  chain.dense("fc2", classes, Activation::none);
}

struct Entry {
  const char* name;
  void (*add)(const Spec& spec, std::size_t classes, Chain& chain);
};

constexpr Entry models[] = {{"linear", add_linear},
                            {"mlp", add_mlp},
                            {"mnist", add_mnist},
                            {"mnist-tutorial", add_mnist_tutorial}};

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
    Chain chain(input, backend);
    try {
      model.add(spec, classes, chain);
    } catch (const std::invalid_argument& error) {
      if (std::string(error.what()).starts_with("model ")) throw;
      refuse(spec, error.what());
    }
    return chain.finish();
  }
  refuse_unknown(spec);
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const Entry& model : models) names.emplace_back(model.name);
  return names;
}

}  // namespace rubato::nn
