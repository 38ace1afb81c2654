// The evaluation's sums against one plain loop, for test sets that are no multiple of anything.
#include "runtime/evaluator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <vector>

#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"

namespace rubato::runtime {
namespace {

TEST(Evaluator, IsOneLoopOverTheTestSetForAnyNumberOfRanks) {
  const auto world = collectives::Communicator::world();
  const auto self = world.split(static_cast<int>(world.rank()), 0);
  data::DataOptions options;
  options.spec = "digits";
  const auto test_set = data::open_data(options).test;  // 359 samples: two batches, the last short
  const auto model = nn::make_model("mlp:8", {8, 8, 1}, 10, nn::Backend::eigen);
  std::vector<float> storage(model->layout().total_elements() + 16);
  void* begin = storage.data();
  std::size_t room = storage.size() * sizeof(float);
  std::align(64, model->layout().total_elements() * sizeof(float), begin, room);
  const std::span<float> parameters(static_cast<float*>(begin), model->layout().total_elements());
  model->initialize(parameters, 3);
  model->use_parameters(parameters);

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

  double loss = 0;
  std::size_t correct = 0;
  std::vector<float> input(64);
  std::vector<std::int32_t> label(1);
  for (std::uint64_t sample = 0; sample < test_set->size(); ++sample) {
    test_set->read({&sample, 1}, input, label);
    const nn::MinibatchLoss one = model->evaluate(input, label);
    loss += one.loss_sum;
    correct += one.correct;
  }
  const auto samples = static_cast<double>(test_set->size());
  EXPECT_NEAR(together.loss, loss / samples, 1e-6);
  EXPECT_DOUBLE_EQ(together.accuracy, static_cast<double>(correct) / samples);
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
