#include "nn/memory_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

// Memory in which each place knows what was written there last.
class Painted {
 public:
  explicit Painted(std::size_t size) : memory_(size) {}
  void write(std::size_t place, std::size_t size, const std::string& what) {
    ASSERT_LE(place + size, memory_.size()) << what;
    std::fill_n(memory_.begin() + static_cast<std::ptrdiff_t>(place), size, what);
  }
  void expect(std::size_t place, std::size_t size, const std::string& what) const {
    ASSERT_LE(place + size, memory_.size()) << what;
    for (std::size_t i = place; i < place + size; ++i) ASSERT_EQ(memory_[i], what) << "at " << i;
  }

 private:
  std::vector<std::string> memory_;
};

std::string output(std::size_t layer) { return "output " + std::to_string(layer); }
// A gradient of the layer's output, by who delivers it.
std::string gradient(std::size_t layer, std::size_t from) {
  return "gradient of " + std::to_string(layer) + " from " + std::to_string(from);
}

// Each layer yields its output; what it takes must still be there.
void play_forwards(const std::vector<Wiring>& layers, const MemoryPlan& plan, Painted& memory) {
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const LayerPlaces& places = plan.layers[layer];
    memory.write(places.output, layers[layer].output_size, output(layer));
    for (const std::size_t source : {layers[layer].input, layers[layer].addend}) {
      if (source == absent) continue;
      memory.expect(plan.layers[source].output, layers[source].output_size, output(source));
    }
  }
  memory.expect(plan.layers.back().output, layers.back().output_size, output(layers.size() - 1));
}

// Plays a pass forwards and back: outputs and gradients must be there when they are taken.
void play(const std::vector<Wiring>& layers) {
  const MemoryPlan plan = plan_training(layers);
  Painted memory(plan.size);
  play_forwards(layers, plan, memory);
  const std::size_t loss = layers.size();
  std::vector<std::vector<std::size_t>> delivered(layers.size());
  memory.write(plan.layers.back().output_gradient, layers.back().output_size,
               gradient(layers.size() - 1, loss));
  delivered.back() = {loss};
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    const Wiring& wiring = layers[layer];
    const LayerPlaces& places = plan.layers[layer];
    const std::size_t size = wiring.output_size;
    SCOPED_TRACE("layer " + std::to_string(layer));
    ASSERT_EQ(places.input_gradient == absent, wiring.input == absent);
    ASSERT_EQ(places.second_output_gradient != absent, delivered[layer].size() == 2);
    const bool is_in_place = wiring.works_in_place && wiring.addend == absent;
    const auto expect_output_gradient = [&] {
      memory.expect(places.output_gradient, size, gradient(layer, delivered[layer].at(0)));
    };
    expect_output_gradient();
    if (wiring.input != absent) {
      ASSERT_EQ(places.input_gradient == places.output_gradient, is_in_place);
      memory.write(places.input_gradient, layers[wiring.input].output_size,
                   gradient(wiring.input, layer));
      delivered[wiring.input].push_back(layer);
    }
    if (!is_in_place || wiring.input == absent) expect_output_gradient();
    if (places.second_output_gradient != absent) {
      memory.expect(places.second_output_gradient, size, gradient(layer, delivered[layer].at(1)));
    }
    memory.expect(places.output, size, output(layer));
    for (const std::size_t source : {wiring.input, wiring.addend}) {
      if (source == absent) continue;
      memory.expect(plan.layers[source].output, layers[source].output_size, output(source));
    }
    if (wiring.addend != absent) {
      memory.write(places.output_gradient, size, gradient(wiring.addend, layer));
      delivered[wiring.addend].push_back(layer);
    }
  }
}

// 0 convolution, 1 norm, 2-5 a block past which 1 goes, 6-11 a smaller block with a projection.
const std::vector<Wiring> blocks = {{16},
                                    {16, 0, absent, true},
                                    {16, 1},
                                    {16, 2, absent, true},
                                    {16, 3},
                                    {16, 4, 1},
                                    {8, 5},
                                    {8, 6, absent, true},
                                    {8, 7},
                                    {8, 5},
                                    {8, 9, absent, true},
                                    {8, 8, 10},
                                    {2, 11}};

TEST(TrainingPlan, EverythingIsThereWhenItIsTaken) {
  play({{3}});
  play({{3}, {2, 0}, {5, 1}, {1, 2}});
  play({{3}, {3, 0, absent, true}});
  play({{3}, {3, 0}, {3, 1, 0}});
  play(blocks);
  std::vector<Wiring> not_in_place = blocks;
  for (Wiring& layer : not_in_place) layer.works_in_place = false;
  play(not_in_place);
}

// The last layers' gradients lie behind all outputs; later those of the larger layers, of which
// there are up to three, lie where smaller layers' outputs were.
TEST(TrainingPlan, GradientsTakeHardlyMoreThanTheOutputs) {
  std::size_t outputs = 0;
  for (const Wiring& layer : blocks) outputs += layer.output_size;
  EXPECT_EQ(plan_training(blocks).size, outputs + 2 + 8 + 8);
}

TEST(TrainingPlan, RefusesWhatCannotBe) {
  const auto refusal = [](const std::vector<Wiring>& layers) {
    return refusal_of([&] { plan_training(layers); });
  };
  EXPECT_EQ(refusal({{1}, {1, 2}, {1, 0}}),
            "layer 1 takes its values from layer 2, which does not come before it");
  EXPECT_EQ(refusal({{1}, {1, 0}, {1, 0}}), "nobody takes the output of layer 1");
  EXPECT_EQ(refusal({{1}, {1, 0}, {1, 0, 1}, {1, 0, 2}}),
            "the output of layer 0 goes more than two ways");
}

std::size_t size_of_evaluation(const std::vector<Wiring>& layers) {
  const MemoryPlan plan = plan_evaluation(layers);
  Painted memory(plan.size);
  play_forwards(layers, plan, memory);
  return plan.size;
}

TEST(EvaluationPlan, KeepsAnOutputUntilItsLastUser) {
  EXPECT_EQ(size_of_evaluation({{3}}), 3U);
  EXPECT_EQ(size_of_evaluation({{1}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}), 2U) << "a chain";
  EXPECT_EQ(size_of_evaluation(blocks), 3 * 16U);
  EXPECT_EQ(size_of_evaluation({{1}, {1, 0}, {1, 1, 1}, {1, 2}, {1, 3}, {1, 4, 3}}), 3U)
      << "a layer may take an output twice";
}

}  // namespace
}  // namespace rubato::nn
