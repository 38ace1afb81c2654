#include "nn/sequential.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nn/batch_norm.hpp"
#include "nn/dense.hpp"
#include "tests/nn/model_under_test.hpp"
#include "tests/nn/refusal_of.hpp"

namespace rubato::nn {
namespace {

using testing::HasSubstr;

// Moves each parameter tensor along its own gradient: the loss must change by the step times the
// gradient's norm.
TEST(Sequential, GradientIsTheDerivativeOfTheLossSum) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 6, backend);
    test.compute();
    const std::vector<float> gradient = copy_of(test.gradient());
    const std::vector<float> parameters = copy_of(test.parameters());
    for (const TensorInfo& tensor : test.layout().tensors()) {
      if (!tensor.is_parameter) continue;
      const std::span<const float> g = std::span(gradient).subspan(tensor.offset, tensor.size);
      double norm = 0;
      for (const float value : g) norm += static_cast<double>(value) * static_cast<double>(value);
      norm = std::sqrt(norm);
      ASSERT_GT(norm, 0.0) << tensor.name;
      const double step = 2e-4 / norm;  // the loss changes by 0.0004: above rounding, few kinks
      const auto loss_at = [&](double position) {
        for (std::size_t i = 0; i < tensor.size; ++i) {
          test.parameters()[tensor.offset + i] =
              static_cast<float>(static_cast<double>(parameters[tensor.offset + i]) +
                                 position * static_cast<double>(g[i]) / norm);
        }
        return test.compute().loss_sum;
      };
      const double derivative = (loss_at(step) - loss_at(-step)) / (2 * step);
      EXPECT_NEAR(derivative / norm, 1.0, 2e-2) << tensor.name;
      std::copy(parameters.begin(), parameters.end(), test.parameters().begin());
    }
  });
}

TEST(Sequential,
     GradientIsTheSumOverTheSamples) {  // without BatchNorm, samples do not know each other
  ModelUnderTest test("mlp:20,13", {4, 4, 3}, 5, Backend::eigen);
  const double loss = test.compute().loss_sum;
  const std::vector<float> whole = copy_of(test.gradient());
  std::vector<float> sum(whole.size());
  double loss_sum = 0;
  for (std::size_t sample = 0; sample < 5; ++sample) {
    std::vector<float> gradient(whole.size());
    loss_sum += test.model()
                    .gradient({test.inputs().subspan(sample * 48, 48),
                               test.labels().subspan(sample, 1), test_key},
                              gradient)
                    .loss_sum;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  EXPECT_LT(distance(sum, whole), 1e-6);
  EXPECT_NEAR(loss_sum, loss, 1e-5);
}

TEST(Sequential, BackendsAgree) {
  for (const ModelCase& c : model_cases()) {
    SCOPED_TRACE(c.spec);
    ModelUnderTest eigen(c.spec, c.shape, 7, Backend::eigen);
    ModelUnderTest other(c.spec, c.shape, 7, backend("auto"));
    const MinibatchLoss a = eigen.compute();
    const MinibatchLoss b = other.compute();
    EXPECT_NEAR(a.loss_sum, b.loss_sum, 1e-5 * a.loss_sum);
    EXPECT_EQ(a.correct, b.correct);
    for (const TensorInfo& tensor : eigen.layout().tensors()) {
      EXPECT_LT(distance(other.gradient_of(tensor), eigen.gradient_of(tensor)), 1e-5)
          << tensor.name;
    }
  }
}

TEST(Sequential, HistoryLeavesNoTraceInTheBits) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest fresh(c.spec, c.shape, 9, backend);
    const double loss = fresh.compute(4).loss_sum;
    ModelUnderTest used(c.spec, c.shape, 9, backend);
    const std::vector<float> parameters = copy_of(used.parameters());
    for (float& value : used.parameters()) value = value * 1.5F + 0.125F;
    used.compute(9, {1, 2, 3});
    used.compute(4, {4, 5, 6});
    used.compute(2, {7, 8, 9});
    used.model().evaluate(used.inputs(), used.labels());
    std::copy(parameters.begin(), parameters.end(), used.parameters().begin());
    EXPECT_EQ(used.compute(4).loss_sum, loss);
    EXPECT_TRUE(has_equal_bits(used.gradient(), fresh.gradient()));
  });
}

TEST(Sequential, AddressesLeaveNoTraceInTheBits) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 5, backend);
    test.compute();
    for (const std::size_t shift : {1U, 3U}) {
      std::vector<float> parameters(test.parameters().size() + shift);
      std::vector<float> inputs(test.inputs().size() + shift);
      std::vector<float> gradient(test.gradient().size() + shift);
      std::copy(test.parameters().begin(), test.parameters().end(), parameters.data() + shift);
      std::copy(test.inputs().begin(), test.inputs().end(), inputs.data() + shift);
      test.model().use_parameters(std::span(parameters).subspan(shift));
      const std::span<float> shifted = std::span(gradient).subspan(shift);
      test.model().gradient({std::span(inputs).subspan(shift), test.labels(), test_key}, shifted);
      EXPECT_TRUE(has_equal_bits(shifted, test.gradient())) << "shifted by " << shift;
    }
  });
}

// Reads what a child process computes, after it has moved its heap about.
std::vector<float> gradient_of_child(const ModelCase& c, Backend backend, std::size_t elements) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::vector<char> ballast(static_cast<std::size_t>(getpid() % 1000) * 64 + 8, 'x');
    ModelUnderTest test(c.spec, c.shape, 5, backend);
    test.compute();
    const auto bytes = test.gradient().size_bytes();
    const bool is_written =
        write(ends[1], test.gradient().data(), bytes) == static_cast<ssize_t>(bytes);
    _exit(is_written && ballast[0] == 'x' ? 0 : 1);
  }
  close(ends[1]);
  std::vector<float> gradient(elements);
  std::size_t done = 0;
  auto* const bytes = reinterpret_cast<char*>(gradient.data());
  while (done < elements * sizeof(float)) {
    const ssize_t count = read(ends[0], bytes + done, elements * sizeof(float) - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return gradient;
}

TEST(Sequential, ProcessesComputeTheSameBits) {
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 5, backend);
    test.compute();
    EXPECT_TRUE(
        has_equal_bits(gradient_of_child(c, backend, test.gradient().size()), test.gradient()));
  });
}

TEST(Sequential, DropoutFollowsTheKey) {
  ModelUnderTest test("mnist-tutorial", {12, 12, 1}, 4, backend("auto"));
  const double base = test.compute(4, {1, 2, 3}).loss_sum;
  EXPECT_EQ(base, test.compute(4, {1, 2, 3}).loss_sum);
  EXPECT_NE(base, test.compute(4, {1, 2, 4}).loss_sum);
  EXPECT_NE(base, test.compute(4, {1, 3, 3}).loss_sum);
  EXPECT_NE(base, test.compute(4, {2, 2, 3}).loss_sum);
}

TEST(Sequential, EvaluationIgnoresCompanions) {  // no minibatch statistics, no dropout
  for_each_model([](const ModelCase& c, Backend backend) {
    ModelUnderTest test(c.spec, c.shape, 4, backend);
    test.model().use_parameters(test.parameters());
    std::vector<SampleLoss> each(4);
    const MinibatchLoss whole = test.model().evaluate(test.inputs(), test.labels(), each);
    EXPECT_EQ(each[0].loss + each[1].loss + each[2].loss + each[3].loss, whole.loss_sum);
    MinibatchLoss sum;
    const std::size_t per_sample = test.inputs().size() / 4;
    for (std::size_t i = 0; i < 4; ++i) {
      const MinibatchLoss one = test.model().evaluate(
          test.inputs().subspan(i * per_sample, per_sample), test.labels().subspan(i, 1));
      sum.loss_sum += one.loss_sum;
      sum.correct += one.correct;
      EXPECT_NEAR(each[i].loss, one.loss_sum, 1e-5);
      EXPECT_EQ(each[i].is_correct, one.correct == 1);
    }
    EXPECT_NEAR(sum.loss_sum, whole.loss_sum, 1e-5);
    EXPECT_EQ(sum.correct, whole.correct);
  });
}

TEST(Sequential, EvaluationIsTheForwardPassOfTraining) {  // in other buffers
  for_each_model([](const ModelCase& c, Backend backend) {
    constexpr std::size_t samples = 96;  // the running variances hold n/(n-1) of what they should
    ModelUnderTest test(c.spec, c.shape, samples, backend);
    const double loss = test.compute().loss_sum;
    if (test.compute(0, {9, 9, 9}).loss_sum != loss) return;  // it has dropout
    for (const TensorInfo& tensor : test.layout().tensors()) {
      if (tensor.is_parameter) continue;
      std::ranges::copy(test.gradient_of(tensor), test.parameters().subspan(tensor.offset).begin());
    }
    test.model().use_parameters(test.parameters());
    const double evaluated = test.model().evaluate(test.inputs(), test.labels()).loss_sum;
    EXPECT_NEAR(evaluated / loss, 1, 0.002);
    EXPECT_EQ(test.compute().loss_sum, loss) << "training goes on as if nothing had happened";
  });
}

TEST(Sequential, PaddingIsZero) {
  ModelUnderTest test("mlp:5,3", {1, 7, 1}, 3, backend("auto"));
  test.compute();
  std::vector<bool> is_padding(test.layout().total_elements(), true);
  for (const TensorInfo& tensor : test.layout().tensors()) {
    for (std::size_t i = 0; i < tensor.size; ++i) is_padding[tensor.offset + i] = false;
  }
  std::size_t padding = 0;
  for (std::size_t i = 0; i < is_padding.size(); ++i) {
    if (!is_padding[i]) continue;
    ++padding;
    EXPECT_EQ(test.gradient()[i], 0.0F) << i;
    EXPECT_EQ(test.parameters()[i], 0.0F) << i;
  }
  EXPECT_EQ(padding, (48 - 35) + (16 - 5) + (16 - 15) + (16 - 3) + (32 - 30) + (16 - 10));
}

TEST(Sequential, RefusesWhatDoesNotFit) {
  ModelUnderTest test("linear", {2, 2, 1}, 3, Backend::eigen);
  Model& model = test.model();
  const std::span<const std::int32_t> labels = test.labels();
  EXPECT_THAT(refusal_of<std::logic_error>([&] { model.evaluate(test.inputs(), labels); }),
              HasSubstr("use_parameters() must come before"));
  test.compute();
  EXPECT_THAT(refusal_of([&] { model.evaluate(test.inputs().first(11), labels); }),
              HasSubstr("a minibatch of 3 samples needs 12 inputs, 4 each, but has 11"));
  EXPECT_THAT(refusal_of([&] { model.evaluate({}, {}); }), HasSubstr("at least one sample"));
  EXPECT_THAT(refusal_of([&] { model.use_parameters(test.parameters().first(3)); }),
              HasSubstr("the parameter buffer has 3 floats, the model's layout needs 64"));
  const MinibatchView minibatch{test.inputs(), labels, {}};
  EXPECT_THAT(refusal_of([&] { model.gradient(minibatch, test.gradient().first(5)); }),
              HasSubstr("the gradient buffer has 5 floats"));
}

// From one order of channels into another, had it anything to do.
class Reordering final : public Layer {
 public:
  using Layer::Layer;
  void forward(const ForwardPass& /*pass*/) override {}
  void backward(const BackwardPass& /*pass*/) override {}
};

TEST(Sequential, RefusesAnAddendInAnotherOrderOfChannels) {
  const Shape last{2, 2, 32};
  const Shape blocks{2, 2, 32, Order::blocks_of_16};
  std::vector<Link> links;
  links.push_back({std::make_unique<BatchNorm>("a", last)});
  links.push_back({std::make_unique<Reordering>(last, blocks), /*input=*/0});
  links.push_back({std::make_unique<BatchNorm>("b", blocks, Ending::addend_and_relu), /*input=*/1,
                   /*addend=*/0});
  EXPECT_EQ(refusal_of([&] { Sequential{std::move(links)}; }), "layer 2 does not fit its addend");
}

TEST(Sequential, RefusesLayersThatDoNotMatch) {
  std::vector<Link> links;
  links.push_back(
      {std::make_unique<Dense>("a", Shape{1, 1, 4}, 3, Activation::none, Backend::eigen)});
  links.push_back({std::make_unique<BatchNorm>("b", Shape{1, 1, 4}), /*input=*/0});
  EXPECT_THAT(refusal_of([&] { Sequential{std::move(links)}; }),
              HasSubstr("layer 1 does not take"));
  links.clear();
  links.push_back({std::make_unique<BatchNorm>("a", Shape{2, 2, 32})});
  links.push_back(
      {std::make_unique<BatchNorm>("b", Shape{2, 2, 32, Order::blocks_of_16}), /*input=*/0});
  EXPECT_THAT(refusal_of([&] { Sequential{std::move(links)}; }),
              HasSubstr("layer 1 does not take"));
  links.clear();
  links.push_back({std::make_unique<BatchNorm>("a", Shape{2, 2, 32, Order::blocks_of_16})});
  EXPECT_THAT(refusal_of([&] { Sequential{std::move(links)}; }),
              HasSubstr("layer 0 does not take"));
  EXPECT_THAT(refusal_of([] { Sequential{{}}; }), HasSubstr("at least one layer"));
}

}  // namespace
}  // namespace rubato::nn
