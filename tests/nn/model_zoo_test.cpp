#include "nn/model_zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/aligned_buffer.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

using testing::HasSubstr;

std::vector<std::string> tensor_names(const std::string& spec, InputShape shape = {28, 28, 1}) {
  std::vector<std::string> names;
  const auto model = make_model(spec, shape, 10, Backend::eigen);
  for (const TensorInfo& tensor : model->layout().tensors()) names.push_back(tensor.name);
  return names;
}

std::size_t parameter_count(const std::string& spec, InputShape shape, std::size_t classes) {
  return make_model(spec, shape, classes, Backend::eigen)->layout().parameter_count();
}

std::string refusal(const std::string& spec, InputShape shape = {28, 28, 1},
                    std::size_t classes = 10) {
  return refusal_of([&] { make_model(spec, shape, classes, Backend::eigen); });
}

TEST(ModelZoo, NamesItsModels) {
  EXPECT_THAT(model_names(),
              testing::ElementsAre("linear", "mlp", "mnist", "mnist-tutorial", "resnet20",
                                   "resnet32", "resnet56", "resnet18", "resnet50"));
}

TEST(ModelZoo, TensorsAreNamedAsInPyTorch) {
  EXPECT_THAT(tensor_names("linear"), testing::ElementsAre("fc.weight", "fc.bias"));
  EXPECT_THAT(tensor_names("mlp:5,6"), testing::ElementsAre("fc1.weight", "fc1.bias", "fc2.weight",
                                                            "fc2.bias", "fc3.weight", "fc3.bias"));
  EXPECT_THAT(
      tensor_names("mnist"),
      testing::ElementsAre("conv1.weight", "conv1.bias", "bn1.weight", "bn1.bias", "conv2.weight",
                           "conv2.bias", "bn2.weight", "bn2.bias", "fc1.weight", "fc1.bias",
                           "fc2.weight", "fc2.bias", "bn1.running_mean", "bn1.running_var",
                           "bn2.running_mean", "bn2.running_var"));
  EXPECT_THAT(tensor_names("mnist-tutorial"),
              testing::ElementsAre("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                   "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
}

TEST(ModelZoo, ParametersCountAsInPyTorch) {
  EXPECT_EQ(parameter_count("linear", {28, 28, 1}, 10), 7850U);
  EXPECT_EQ(parameter_count("mlp:512,512", {28, 28, 1}, 10), 669706U);
  EXPECT_EQ(parameter_count("mnist", {28, 28, 1}, 10), 21900U);
  EXPECT_EQ(parameter_count("mnist-tutorial", {28, 28, 1}, 10), 1199882U);
  EXPECT_EQ(parameter_count("mnist", {32, 32, 3}, 100), 760U + 20 + 5020 + 40 + 25050 + 5100);
}

TEST(ModelZoo, DropoutCanBeSwitchedOff) {
  EXPECT_EQ(tensor_names("mnist-tutorial:dropout=0"), tensor_names("mnist-tutorial"));
  EXPECT_THAT(refusal("mnist-tutorial:dropout=0.3"), HasSubstr("its only parameter is dropout=0"));
  EXPECT_THAT(refusal("mnist-tutorial:"), HasSubstr("its only parameter is dropout=0"));
}

TEST(ModelZoo, AnUnknownNameListsTheValidOnes) {
  EXPECT_EQ(refusal("resnet"),
            "model \"resnet\": there is no model of that name; valid are linear, mlp, mnist, "
            "mnist-tutorial, resnet20, resnet32, resnet56, resnet18, resnet50");
  EXPECT_THAT(refusal(""), HasSubstr("there is no model of that name"));
}

TEST(ModelZoo, AMalformedParameterIsNamed) {
  EXPECT_THAT(refusal("mlp"), HasSubstr("mlp needs hidden layer sizes, as in mlp:512,512"));
  for (const char* spec : {"mlp:", "mlp:0", "mlp:-3", "mlp:12x", "mlp:1000001", "mlp:1.5"}) {
    EXPECT_THAT(refusal(spec), HasSubstr("model \"" + std::string(spec) +
                                         "\": hidden layer 1 needs a whole number"));
  }
  for (const char* spec : {"mlp:5,", "mlp:5,,5", "mlp:5, 6", "mlp:5,99999999999999999999"}) {
    EXPECT_THAT(refusal(spec), HasSubstr("hidden layer 2 needs a whole number from 1 to 1000000"));
  }
  EXPECT_EQ(refusal("linear:3"), "model \"linear:3\": linear takes no parameters; write linear");
  EXPECT_THAT(refusal("mnist:big"), HasSubstr("mnist takes no parameters"));
}

TEST(ModelZoo, AnInputThatDoesNotFitIsExplained) {
  EXPECT_EQ(refusal("mnist", {8, 8, 1}),
            "model \"mnist\": layer conv2: its 5x5 kernel does not fit into an input of 2x2 "
            "pixels; use larger images or a model without convolutions");
  EXPECT_THAT(refusal("mnist", {12, 12, 1}), HasSubstr("layer conv2"));
  EXPECT_THAT(refusal("mnist", {14, 14, 1}), HasSubstr("layer pool2"));
  EXPECT_EQ(refusal("mnist", {16, 16, 1}), "no exception");
  EXPECT_THAT(refusal("linear", {0, 8, 1}), HasSubstr("the input shape is empty"));
  EXPECT_THAT(refusal("linear", {8, 8, 1}, 0), HasSubstr("at least one class"));
}

// A colour image and its flattening in PyTorch's order (channel, row, column) must give the same
// class scores.
TEST(ModelZoo, DenseModelsFlattenAsPyTorchDoes) {
  const auto image = make_model("linear", {2, 3, 3}, 4, Backend::eigen);
  const auto vector = make_model("linear", {1, 1, 18}, 4, Backend::eigen);
  AlignedBuffer<float> buffer;
  const std::span<float> parameters = buffer.first(image->layout().total_elements());
  image->initialize(parameters, 1);
  image->use_parameters(parameters);
  vector->use_parameters(parameters);
  std::vector<float> channels_last(18);
  std::vector<float> channels_first(18);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t pixel = 0; pixel < 6; ++pixel) {
      channels_last[pixel * 3 + c] = channels_first[c * 6 + pixel] =
          static_cast<float>(c * 10 + pixel);
    }
  }
  const std::vector<std::int32_t> label = {2};
  EXPECT_EQ(image->evaluate(channels_last, label).loss_sum,
            vector->evaluate(channels_first, label).loss_sum);
}

}  // namespace
}  // namespace rubato::nn
