// Where a chain of layers puts what lies between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "nn/aligned_buffer.hpp"
#include "nn/dense.hpp"
#include "nn/sequential.hpp"

namespace rubato::nn {
namespace {

// A dense layer that looks where its values lie.
class Watching final : public Layer {
 public:
  Watching(const char* name, std::size_t inputs, std::size_t outputs)
      : Layer(Shape{1, 1, inputs}, Shape{1, 1, outputs}),
        dense_(name, input_shape(), outputs, Activation::none, Backend::eigen) {}

  std::vector<TensorSpec> tensors() const override { return dense_.tensors(); }
  void use_parameters(ConstTensors tensors) override { dense_.use_parameters(tensors); }
  void forward(const ForwardPass& pass) override {
    expect_on_a_cache_line(pass.input);
    expect_on_a_cache_line(pass.output);
    dense_.forward(pass);
  }
  void backward(const BackwardPass& pass) override {
    expect_on_a_cache_line(pass.output_gradient);
    expect_on_a_cache_line(pass.input_gradient);
    dense_.backward(pass);
  }

 private:
  static void expect_on_a_cache_line(std::span<const float> values) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % cache_line_bytes, 0U);
  }
  Dense dense_;
};

TEST(SequentialMemory, EveryValueBeginsOnACacheLine) {
  std::vector<Link> links;
  links.push_back({std::make_unique<Watching>("a", 6, 5)});
  links.push_back({std::make_unique<Watching>("b", 5, 18), 0});
  links.push_back({std::make_unique<Watching>("c", 18, 3), 1});
  Sequential model(std::move(links));
  AlignedBuffer<float> buffers[3];
  const std::span<float> parameters = buffers[0].first(model.layout().total_elements());
  const std::span<float> gradient = buffers[1].first(parameters.size());
  model.initialize(parameters, 42);
  model.use_parameters(parameters);
  for (const std::size_t samples : {1UL, 7UL, 3UL}) {
    const std::span<float> inputs = buffers[2].first(6 * samples);
    std::ranges::fill(inputs, 0.5F);
    const std::vector<std::int32_t> labels(samples);
    model.gradient({inputs, labels, {}}, gradient);
    model.evaluate(inputs, labels, {});
  }
}

}  // namespace
}  // namespace rubato::nn
