// Blocks from layers, stages from blocks, networks from stages.
#include "nn/residual_networks.hpp"

#include <array>
#include <span>
#include <string>

namespace rubato::nn {
namespace {

struct ResidualBlock {
  std::string name;  // "layer1.0"
  std::size_t width;
  std::size_t stride;
};

using AddBlock = void (*)(ModelBuilder& model, const ResidualBlock& block);

// What is added to the block's result: its input, or a projection of it to the result's shape.
ModelBuilder::Point shortcut(ModelBuilder& model, const ResidualBlock& block,
                             ModelBuilder::Point input, ModelBuilder::Point result) {
  if (block.stride == 1 && input.shape == result.shape) return input;
  model.go_back_to(input);
  model.padded_convolution(block.name + ".downsample.0", result.shape.channels, 1, block.stride);
  model.batch_norm(block.name + ".downsample.1");
  const ModelBuilder::Point projected = model.here();
  model.go_back_to(result);
  return projected;
}

void add_basic_block(ModelBuilder& model, const ResidualBlock& block) {
  const ModelBuilder::Point input = model.here();
  model.padded_convolution(block.name + ".conv1", block.width, 3, block.stride);
  model.batch_norm(block.name + ".bn1", Ending::relu);
  model.padded_convolution(block.name + ".conv2", block.width, 3, 1);
  model.batch_norm_joining(block.name + ".bn2", shortcut(model, block, input, model.here()));
}

void add_bottleneck(ModelBuilder& model, const ResidualBlock& block) {
  constexpr std::size_t expansion = 4;
  const ModelBuilder::Point input = model.here();
  model.padded_convolution(block.name + ".conv1", block.width, 1, 1);
  model.batch_norm(block.name + ".bn1", Ending::relu);
  model.padded_convolution(block.name + ".conv2", block.width, 3, block.stride);
  model.batch_norm(block.name + ".bn2", Ending::relu);
  model.padded_convolution(block.name + ".conv3", expansion * block.width, 1, 1);
  model.batch_norm_joining(block.name + ".bn3", shortcut(model, block, input, model.here()));
}

// Stages of so many blocks each; the width doubles and the image halves from one to the next.
void add_stages(ModelBuilder& model, AddBlock add_block, std::size_t width,
                std::span<const std::size_t> blocks) {
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, width *= 2) {
    for (std::size_t i = 0; i < blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      add_block(model, {name, width, stage > 0 && i == 0 ? 2U : 1U});
    }
  }
}

void add_end(ModelBuilder& model, std::size_t classes) {
  model.average_pool();
  model.dense("fc", classes, Activation::none);
}

// Without copies for oneDNN's kernels; in the large networks Winograd's were no faster for it
// (nn/README.md).
void add_small(ModelBuilder& model, std::size_t blocks_per_stage, std::size_t classes) {
  model.allow_blocks();
  model.padded_convolution("conv1", 16, 3, 1);
  model.batch_norm("bn1", Ending::relu);
  add_stages(model, add_basic_block, 16,
             std::array{blocks_per_stage, blocks_per_stage, blocks_per_stage});
  add_end(model, classes);
}

void add_large(ModelBuilder& model, AddBlock add_block,
               const std::array<std::size_t, 4>& blocks_per_stage, std::size_t classes) {
  model.padded_convolution("conv1", 64, 7, 2);
  model.batch_norm("bn1", Ending::relu);
  model.overlapping_max_pool();
  add_stages(model, add_block, 64, blocks_per_stage);
  add_end(model, classes);
}

}  // namespace

void add_resnet20(ModelBuilder& model, std::size_t classes) { add_small(model, 3, classes); }
void add_resnet32(ModelBuilder& model, std::size_t classes) { add_small(model, 5, classes); }
void add_resnet56(ModelBuilder& model, std::size_t classes) { add_small(model, 9, classes); }

void add_resnet18(ModelBuilder& model, std::size_t classes) {
  add_large(model, add_basic_block, {2, 2, 2, 2}, classes);
}

void add_resnet50(ModelBuilder& model, std::size_t classes) {
  add_large(model, add_bottleneck, {3, 4, 6, 3}, classes);
}

}  // namespace rubato::nn
