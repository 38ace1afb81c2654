#include "nn/model_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/convolution.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

TEST(ModelBuilder, TellsTheShapeItHasReached) {
  ModelBuilder model({32, 31, 3}, Backend::eigen);
  EXPECT_EQ(model.here().shape, (Shape{32, 31, 3}));
  model.padded_convolution("conv1", 16, 7, 2);
  EXPECT_EQ(model.here().shape, (Shape{16, 16, 16}));
  model.overlapping_max_pool();
  EXPECT_EQ(model.here().shape, (Shape{8, 8, 16}));
  model.convolution("conv2", 5, 3);
  EXPECT_EQ(model.here().shape, (Shape{6, 6, 5}));
  model.max_pool("pool", Activation::relu);
  EXPECT_EQ(model.here().shape, (Shape{3, 3, 5}));
  model.batch_norm("bn");
  model.dropout(0.5);
  EXPECT_EQ(model.here().shape, (Shape{3, 3, 5}));
  model.flatten();
  EXPECT_EQ(model.here().shape, (Shape{1, 1, 45}));
  model.dense("fc", 4, Activation::none);
  EXPECT_EQ(model.here().shape, (Shape{1, 1, 4}));
}

TEST(ModelBuilder, LeavesOutWhatDoesNothing) {
  ModelBuilder model({4, 4, 1}, Backend::eigen);
  model.flatten();
  model.dropout(0);
  EXPECT_EQ(model.here().layer, absent);
}

TEST(ModelBuilder, BranchesAndJoins) {
  ModelBuilder model({4, 4, 8}, Backend::eigen);
  model.padded_convolution("a", 8, 3, 1);
  const ModelBuilder::Point fork = model.here();
  model.padded_convolution("b", 8, 3, 1);
  const ModelBuilder::Point end = model.here();
  model.go_back_to(fork);
  model.padded_convolution("c", 8, 1, 1);
  const ModelBuilder::Point other = model.here();
  model.go_back_to(end);
  model.batch_norm_joining("bn", other);
  model.average_pool();
  model.dense("fc", 3, Activation::none);
  std::vector<std::string> names;
  const auto finished = model.finish();
  for (const TensorInfo& tensor : finished->layout().tensors()) names.push_back(tensor.name);
  EXPECT_THAT(names,
              testing::ElementsAre("a.weight", "b.weight", "c.weight", "bn.weight", "bn.bias",
                                   "fc.weight", "fc.bias", "bn.running_mean", "bn.running_var"));
}

TEST(ModelBuilder, HasTheBestOrderOfChannelsWhereAllowed) {
  for (const bool may_use_blocks : {false, true}) {
    ModelBuilder model({16, 16, 3}, backend("auto"));
    if (may_use_blocks) model.allow_blocks();
    for (const std::size_t outputs : {16U, 32U, 40U, 48U}) {
      Shape shape{16, 16, outputs};
      if (may_use_blocks) shape.order = best_order(shape, backend("auto"));
      model.padded_convolution("conv", outputs, 3, 1);
      EXPECT_EQ(model.here().shape, shape);
      model.batch_norm("bn");
      EXPECT_EQ(model.here().shape, shape);
    }
    Shape shape{14, 14, 64};
    if (may_use_blocks) shape.order = best_order(shape, backend("auto"));
    model.convolution("conv", 64, 3);
    EXPECT_EQ(model.here().shape, shape);
    model.max_pool("pool", Activation::relu);
    EXPECT_EQ(model.here().shape, (Shape{7, 7, 64}));
    model.average_pool();
    EXPECT_EQ(model.here().shape, (Shape{1, 1, 64}));
  }
}

TEST(ModelBuilder, RefusesBlocksOfChannelsToLayersThatKnowNone) {
  const Shape blocks{8, 8, 32, Order::blocks_of_16};
  const auto refusal = [&](auto add) {
    ModelBuilder model(blocks, Backend::eigen);
    return refusal_of([&] { add(model); });
  };
  const std::string reason = ": it does not take channels in blocks";
  EXPECT_EQ(refusal([](auto& model) { model.overlapping_max_pool(); }), "layer maxpool" + reason);
  EXPECT_EQ(refusal([](auto& model) { model.dropout(0.5); }), "layer dropout" + reason);
  EXPECT_EQ(refusal([](auto& model) { model.flatten(); }), "layer flatten" + reason);
  EXPECT_EQ(refusal([](auto& model) { model.dense("fc", 3, Activation::none); }),
            "layer fc" + reason);
}

TEST(ModelBuilder, RefusesToJoinWhatDiffersInShape) {
  ModelBuilder model({4, 4, 8}, Backend::eigen);
  model.padded_convolution("a", 8, 3, 1);
  const ModelBuilder::Point before = model.here();
  model.padded_convolution("b", 8, 3, 2);
  EXPECT_EQ(refusal_of([&] { model.batch_norm_joining("bn", before); }),
            "layer bn: the two branches differ in shape");
}

}  // namespace
}  // namespace rubato::nn
