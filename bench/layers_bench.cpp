// Time of each layer, forwards and backwards, and of each model's whole gradient(), per minibatch
// of 32 samples on one core.
//
// Shapes are those of the built-in models, on images of 28x28 pixels and for residual networks on
// 32x32x3. Items per second are samples. Run with
// `--benchmark_filter=model` for the models alone. The instruction set is the best of the CPU.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "nn/average_pool.hpp"
#include "nn/backend.hpp"
#include "nn/batch_norm.hpp"
#include "nn/convolution.hpp"
#include "nn/dense.hpp"
#include "nn/dropout.hpp"
#include "nn/flatten.hpp"
#include "nn/max_pool.hpp"
#include "nn/model_zoo.hpp"
#include "nn/overlapping_max_pool.hpp"

namespace {

using namespace rubato::nn;

constexpr std::size_t minibatch_size = 32;
constexpr MinibatchKey key{42, 0, 7};

using MakeLayer = std::function<std::unique_ptr<Layer>()>;

// Values in [-1, 1) that look like nothing in particular.
std::span<float> filled(AlignedBuffer<float>& buffer, std::size_t elements) {
  const std::span<float> values = buffer.first(elements);
  std::uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  }
  return values;
}

// A layer with all the memory that its passes need.
struct LayerUnderTest {
  explicit LayerUnderTest(std::unique_ptr<Layer> made) : layer(std::move(made)) {
    const std::vector<TensorSpec> specs = layer->tensors();
    value_buffers.resize(specs.size());
    gradient_buffers.resize(specs.size());
    for (std::size_t i = 0; i < specs.size(); ++i) {
      std::size_t elements = 1;
      for (const std::size_t extent : specs[i].shape) elements *= extent;
      values.push_back(filled(value_buffers[i], elements));
      gradients.push_back(filled(gradient_buffers[i], elements));
    }
    layer->use_parameters(values);
    const std::size_t inputs = minibatch_size * layer->input_shape().elements();
    const std::size_t outputs = minibatch_size * layer->output_shape().elements();
    pass.input = input = filled(input_buffer, inputs);
    pass.output = output = filled(output_buffer, outputs);
    pass.output_gradient = filled(output_gradient_buffer, outputs);
    pass.input_gradient = filled(input_gradient_buffer, inputs);
    pass.tensor_gradients = gradients;
  }

  std::unique_ptr<Layer> layer;
  std::vector<AlignedBuffer<float>> value_buffers, gradient_buffers;
  AlignedBuffer<float> input_buffer, output_buffer, input_gradient_buffer, output_gradient_buffer;
  std::vector<std::span<const float>> values;
  std::vector<std::span<float>> gradients;
  std::span<const float> input;
  std::span<float> output;
  BackwardPass pass;
};

void count_samples(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(minibatch_size));
}

void measure_forward(benchmark::State& state, const MakeLayer& make) {
  LayerUnderTest test(make());
  for (auto _ : state) test.layer->forward({test.input, {}, test.output, key});
  count_samples(state);
}

void measure_backward(benchmark::State& state, const MakeLayer& make, bool is_first) {
  LayerUnderTest test(make());
  if (is_first) test.pass.input_gradient = {};
  test.layer->forward({test.input, {}, test.output, key});
  for (auto _ : state) test.layer->backward(test.pass);
  count_samples(state);
}

void measure_model(benchmark::State& state, const std::string& spec, InputShape shape,
                   Backend backend) {
  const std::unique_ptr<Model> model = make_model(spec, shape, 10, backend);
  AlignedBuffer<float> parameter_buffer, gradient_buffer, input_buffer;
  const std::span<float> parameters = parameter_buffer.first(model->layout().total_elements());
  const std::span<float> gradient = gradient_buffer.first(parameters.size());
  model->initialize(parameters, 42);
  const std::span<float> inputs =
      filled(input_buffer, minibatch_size * shape.height * shape.width * shape.channels);
  std::vector<std::int32_t> labels(minibatch_size);
  for (std::size_t i = 0; i < minibatch_size; ++i) labels[i] = static_cast<std::int32_t>(i % 10);
  for (auto _ : state) {  // as in training with one minibatch per update
    model->use_parameters(parameters);
    benchmark::DoNotOptimize(model->gradient({inputs, labels, key}, gradient));
  }
  count_samples(state);
}

void register_layer(const std::string& name, const MakeLayer& make, bool is_first = false) {
  benchmark::RegisterBenchmark((name + "/forward").c_str(), measure_forward, make)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark((name + "/backward").c_str(), measure_backward, make, is_first)
      ->Unit(benchmark::kMicrosecond);
}

void register_matrix_layers(const std::string& backend_name) {
  const Backend backend = rubato::nn::backend(backend_name);
  const auto convolution = [&](const std::string& name, Shape input, std::size_t outputs,
                               std::size_t kernel, Activation activation, bool is_first,
                               std::size_t padding = 0, std::size_t stride = 1) {
    register_layer(
        backend_name + "/" + name,
        [=] {
          return make_convolution({name, input, outputs, kernel, activation, stride, padding,
                                   /*has_bias=*/true, /*output_order=*/input.order},
                                  backend);
        },
        is_first);
  };
  const auto dense = [&](const std::string& name, std::size_t inputs, std::size_t outputs) {
    register_layer(backend_name + "/" + name, [=] {
      return std::make_unique<Dense>(name, Shape{1, 1, inputs}, outputs, Activation::relu, backend);
    });
  };
  convolution("conv 1->10 5x5 28x28", {28, 28, 1}, 10, 5, Activation::none, true);
  convolution("conv 10->20 5x5 12x12", {12, 12, 10}, 20, 5, Activation::none, false);
  convolution("conv 1->32 3x3 28x28 relu", {28, 28, 1}, 32, 3, Activation::relu, true);
  convolution("conv 32->64 3x3 26x26", {26, 26, 32}, 64, 3, Activation::none, false);
  for (const std::size_t channels : {16U, 32U, 64U}) {  // of resnet20
    const std::size_t extent = 512 / channels;
    const std::string size = std::to_string(extent) + "x" + std::to_string(extent);
    const std::string through = std::to_string(channels) + "->" + std::to_string(channels);
    const std::string name = "conv " + through + " 3x3 " + size;
    const Shape shape{extent, extent, channels};
    convolution(name, shape, channels, 3, Activation::none, false, 1);
    const Order best = best_order(shape, backend);
    if (best == shape.order) continue;
    convolution(name + " in blocks", {extent, extent, channels, best}, channels, 3,
                Activation::none, false, 1);
  }
  const auto none = Activation::none;
  convolution("conv 16->32 3x3/2 32x32", {32, 32, 16}, 32, 3, none, false, 1, 2);
  convolution("conv 16->32 1x1/2 32x32", {32, 32, 16}, 32, 1, none, false, 0, 2);
  convolution("conv 3->64 7x7/2 32x32", {32, 32, 3}, 64, 7, none, true, 3, 2);  // of resnet50
  convolution("conv 256->64 1x1 8x8", {8, 8, 256}, 64, 1, none, false);
  convolution("conv 64->256 1x1 8x8", {8, 8, 64}, 256, 1, none, false);
  convolution("conv 256->256 3x3/2 4x4", {4, 4, 256}, 256, 3, none, false, 1, 2);
  dense("dense 784->512", 784, 512);
  dense("dense 9216->128", 9216, 128);
}

void register_own_layers() {
  for (const Shape shape : {Shape{24, 24, 10}, Shape{24, 24, 64}}) {
    register_layer("max-pool 24x24x" + std::to_string(shape.channels),
                   [=] { return std::make_unique<MaxPool>("pool", shape, Activation::relu); });
  }
  register_layer("overlapping-max-pool 16x16x64", [] {
    return std::make_unique<OverlappingMaxPool>(Shape{16, 16, 64});
  });
  register_layer("average-pool 8x8x64", [] {
    return std::make_unique<AveragePool>(Shape{8, 8, 64});
  });
  for (const Shape shape : {Shape{12, 12, 10}, Shape{4, 4, 20}, Shape{32, 32, 16}}) {
    register_layer("batch-norm " + std::to_string(shape.height) + "x" +
                       std::to_string(shape.width) + "x" + std::to_string(shape.channels),
                   [=] { return std::make_unique<BatchNorm>("bn", shape); });
  }
  register_layer("dropout 9216", [] {
    return std::make_unique<Dropout>(Shape{1, 1, 9216}, 0.25, 0U);
  });
  register_layer("flatten 12x12x64", [] { return std::make_unique<Flatten>(Shape{12, 12, 64}); });
}

void register_models(const std::string& backend_name) {
  const auto model = [&](const char* spec, InputShape shape) {
    benchmark::RegisterBenchmark((backend_name + "/model " + spec).c_str(), measure_model,
                                 std::string(spec), shape, backend(backend_name))
        ->Unit(benchmark::kMicrosecond);
  };
  for (const char* spec : {"linear", "mlp:512,512", "mnist", "mnist-tutorial"}) {
    model(spec, {28, 28, 1});
  }
  for (const char* spec : {"resnet20", "resnet32", "resnet56", "resnet18", "resnet50"}) {
    model(spec, {32, 32, 3});
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  select_kernels(backend("auto"), "auto");
  const Kernels kernels = rubato::nn::kernels(backend("auto"));
  benchmark::AddCustomContext("kernels", kernels.version + ", " + kernels.isa);
  register_own_layers();
  for (const std::string& name : backend_names()) register_matrix_layers(name);
  for (const std::string& name : backend_names()) register_models(name);
  benchmark::RunSpecifiedBenchmarks();
}
