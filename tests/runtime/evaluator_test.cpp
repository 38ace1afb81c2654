// The evaluation's sums against one plain loop, for test sets that are no multiple of anything.
#include "runtime/evaluator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/data_source.hpp"
#include "nn/aligned_buffer.hpp"
#include "nn/model_zoo.hpp"

namespace rubato::runtime {
namespace {

// A model on a buffer of its own.
class OwnModel {
 public:
  OwnModel(const std::string& spec, const nn::InputShape& shape, std::size_t classes)
      : model_(nn::make_model(spec, shape, classes, nn::Backend::eigen)) {}

  nn::Model& filled(std::uint64_t seed) {
    const std::span<float> parameters = buffer_.first(model_->layout().total_elements());
    model_->initialize(parameters, seed);
    model_->use_parameters(parameters);
    return *model_;
  }

 private:
  std::unique_ptr<nn::Model> model_;
  nn::AlignedBuffer<float> buffer_;
};

// Counts the batches that do not begin on a cache line.
class UnalignedBatches final : public nn::Model {
 public:
  const nn::Layout& layout() const override { return layout_; }
  void initialize(std::span<float>, std::uint64_t) const override {}
  void use_parameters(std::span<const float>) override {}
  nn::MinibatchLoss gradient(const nn::MinibatchView&, std::span<float>) override { return {}; }
  nn::MinibatchLoss evaluate(std::span<const float> inputs, std::span<const std::int32_t>,
                             std::span<nn::SampleLoss>) override {
    const auto address = reinterpret_cast<std::uintptr_t>(inputs.data());
    if (address % nn::cache_line_bytes != 0) ++unaligned;
    ++batches;
    return {};
  }

  std::size_t unaligned = 0;
  std::size_t batches = 0;

 private:
  nn::Layout layout_;
};

TEST(Evaluator, IsOneLoopOverTheTestSetForAnyNumberOfRanks) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  data::DataOptions options;
  options.spec = "digits";
  const auto test_set = data::open_data(options).test;  // 359: twelve batches, the last short
  OwnModel own("mlp:8", {8, 8, 1}, 10);
  nn::Model* const model = &own.filled(3);

  const Evaluator evaluator(test_set);
  const auto together = evaluator.evaluate(world, *model);
  const auto alone = evaluator.evaluate(self, *model);
  EXPECT_EQ(together.loss, alone.loss);
  EXPECT_EQ(together.accuracy, alone.accuracy);
  const EvaluationReport report = evaluator.report(world, *model);
  EXPECT_EQ(report.loss, alone.loss);
  EXPECT_EQ(report.accuracy, alone.accuracy);
  EXPECT_EQ(report.samples, test_set->size());
  EXPECT_GT(report.seconds, 0);

  const Evaluator::DetailedResult detailed = evaluator.evaluate_classes(world, *model);
  EXPECT_EQ(detailed.all.loss, alone.loss);
  EXPECT_EQ(detailed.all.accuracy, alone.accuracy);
  const Evaluator::DetailedResult detailed_alone = evaluator.evaluate_classes(self, *model);
  ASSERT_EQ(detailed.classes.size(), 10U);
  std::vector<Evaluator::ClassResult> expected(10);

  double loss = 0;
  std::size_t correct = 0;
  std::vector<float> input(64);
  std::vector<std::int32_t> label(1);
  for (std::uint64_t sample = 0; sample < test_set->size(); ++sample) {
    test_set->read({&sample, 1}, input, label);
    const nn::MinibatchLoss one = model->evaluate(input, label);
    loss += one.loss_sum;
    correct += one.correct;
    Evaluator::ClassResult& of_label = expected[static_cast<std::size_t>(label[0])];
    ++of_label.samples;
    of_label.correct += one.correct;
    of_label.loss_sum += one.loss_sum;
  }
  const auto samples = static_cast<double>(test_set->size());
  EXPECT_NEAR(together.loss, loss / samples, 1e-6);
  EXPECT_DOUBLE_EQ(together.accuracy, static_cast<double>(correct) / samples);
  EXPECT_EQ(detailed.correct, correct);
  for (std::size_t c = 0; c < 10; ++c) {
    EXPECT_EQ(detailed.classes[c].samples, expected[c].samples) << c;
    EXPECT_EQ(detailed.classes[c].correct, expected[c].correct) << c;
    EXPECT_NEAR(detailed.classes[c].loss_sum, expected[c].loss_sum, 1e-4) << c;
    EXPECT_EQ(detailed.classes[c].loss_sum, detailed_alone.classes[c].loss_sum) << c;
  }
}

// Forty batches: sums in another order would have other bits for some of the seeds.
TEST(Evaluator, ClassesAddUpToTheBitsOfTheWhole) {
  const auto world = collectives::Communicator::world();
  data::DataOptions options;
  options.spec = "synthetic:samples=5000,shape=1x1x6,classes=3";
  const auto test_set = data::open_data(options).test;
  const Evaluator evaluator(test_set);
  OwnModel model("linear", {1, 1, 6}, 3);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto whole = evaluator.evaluate(world, model.filled(seed));
    const auto classes = evaluator.evaluate_classes(world, model.filled(seed));
    EXPECT_EQ(classes.all.loss, whole.loss) << seed;
    EXPECT_EQ(classes.all.accuracy, whole.accuracy) << seed;
  }
}

// Of others a model makes an aligned copy. Many sizes, as memory may be aligned by chance.
TEST(Evaluator, HandsOutBatchesThatBeginOnCacheLines) {
  const auto world = collectives::Communicator::world();
  for (const std::string width : {"1", "3", "6", "17", "50", "131", "300", "1001"}) {
    data::DataOptions options;
    options.spec = "synthetic:samples=1000,classes=3,shape=1x1x" + width;
    UnalignedBatches model;
    Evaluator(data::open_data(options).test).evaluate(world, model);
    EXPECT_GT(model.batches, 0U) << width;
    EXPECT_EQ(model.unaligned, 0U) << width;
  }
}

TEST(Evaluator, IsDueWhenAnEpochEndsOrSoManySamplesWereUsed) {
  const Evaluator with_epochs(nullptr), every_thousand(nullptr, 1000);
  data::PlannedUpdate update;
  const auto after = [&](std::uint64_t begin, std::uint64_t end) {
    update.begin.samples = begin;
    update.end.samples = end;
    return every_thousand.is_due(update);
  };
  EXPECT_FALSE(after(0, 999));
  EXPECT_TRUE(after(999, 1000));
  EXPECT_FALSE(after(1000, 1999));
  EXPECT_TRUE(after(1999, 2001));
  EXPECT_TRUE(after(2001, 9000));  // once, however large the batch
  EXPECT_FALSE(with_epochs.is_due(update));
  update.ends_epoch = true;
  EXPECT_TRUE(with_epochs.is_due(update));
  EXPECT_TRUE(after(1000, 1001));
}

}  // namespace
}  // namespace rubato::runtime
