// What a run is made of, and how it is refused.
#include "runtime/run_inputs.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "data/errors.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

TEST(RunInputs, GoTogether) {
  const RunInputs inputs = open_inputs(small_run());
  EXPECT_EQ(inputs.source.train->size(), 300U);
  EXPECT_EQ(inputs.plan.total_updates(), 7U);
  EXPECT_EQ(inputs.model->layout().parameter_count(), 36 * 16 + 16 + 16 * 4 + 4);
  EXPECT_EQ(inputs.optimizer->reference_batch(), 40);  // the first update's
}

TEST(RunInputs, AugmentImagesOnly) {
  RunOptions options = small_run();
  EXPECT_FALSE(open_inputs(options).augmentation);
  options.augmentation = data::Augmentation::crop_flip;
  EXPECT_TRUE(open_inputs(options).augmentation);
  options.data.spec = "synthetic:samples=300,shape=1x1x36,classes=4";
  EXPECT_THROW(open_inputs(options), std::invalid_argument);
}

TEST(RunInputs, TakeTheReferenceBatchThatIsGiven) {
  RunOptions options = small_run();
  options.reference_batch = 12.5;
  EXPECT_EQ(open_inputs(options).optimizer->reference_batch(), 12.5);
}

// Three ranks round the first batch up; rate and efficiency refer to what was asked for.
TEST(RunInputs, OfAnAdaptiveRunBeginWithTheBatchForItsRanks) {
  RunOptions options = small_run();
  options.adaptive = {.limits = {.initial_batch = 32, .max_batch_size = 1000}};
  const RunInputs inputs = open_inputs(options, 3);
  EXPECT_EQ(inputs.plan.trace().row(0), (data::TraceRow{0, 33, 11, 0}));
  EXPECT_EQ(inputs.optimizer->reference_batch(), 32);
  EXPECT_EQ(inputs.limits->max_batch_size, 300U);  // samples that an epoch has
  options.epoch_end = data::EpochEnd::carry;
  EXPECT_EQ(open_inputs(options, 3).limits->max_batch_size, 1000U);
  options.adaptive.reset();
  EXPECT_FALSE(open_inputs(options, 3).limits);
}

// Without a maximum, an upper bound for each rank is the most; unless the data set has less.
TEST(RunInputs, LimitAnAdaptiveRunToItsDataSetOnlyWhereItCouldAskForMore) {
  RunOptions options = small_run();
  options.adaptive = {.limits = {.initial_batch = 32, .local_bounds = optim::LocalBounds{4, 100}}};
  EXPECT_FALSE(open_inputs(options, 2).limits->max_batch_size);
  EXPECT_FALSE(open_inputs(options, 3).limits->max_batch_size);
  EXPECT_EQ(open_inputs(options, 4).limits->max_batch_size, 300U);
  options.adaptive->limits.local_bounds.reset();
  EXPECT_THROW(open_inputs(options, 2), std::invalid_argument);
}

TEST(RunInputs, SayWhoseTheMaximumIsThatCannotBeMet) {
  RunOptions options = small_run();
  const auto refusal = [&]() -> std::string {
    try {
      open_inputs(options, 3);
      return {};
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  const std::string too_much =
      "--adaptive: minibatches of at least 110 on 3 ranks make 330 samples"
      " an update, above the maximum batch size, 300; 2 ranks would do";
  options.adaptive = {.limits = {.initial_batch = 32, .max_batch_size = 300}};
  options.adaptive->limits.local_bounds = optim::LocalBounds{110, 200};
  EXPECT_EQ(refusal(), too_much);
  const std::string whose = " (the samples of the data set: --epoch-end carry allows more)";
  for (const std::optional<std::uint64_t> most : {std::optional<std::uint64_t>(500), {}}) {
    options.adaptive->limits.max_batch_size = most;
    EXPECT_EQ(refusal(), too_much + whose);
  }
  options.epoch_end = data::EpochEnd::carry;
  EXPECT_EQ(refusal(), "");
}

TEST(RunInputs, TellTheOptimizerWhatToMeasure) {
  RunOptions options = small_run();
  options.rule = "legw";
  options.legw_warmup = 2;  // epochs of 296 samples, the last whole minibatch's end
  options.clip_norm = 3;
  options.measures_tensors = true;
  options.single_minibatch = optim::SingleMinibatch::difference;
  const RunInputs inputs = open_inputs(options);
  const optim::ElasticOptions& elastic = inputs.optimizer->options();
  EXPECT_DOUBLE_EQ(elastic.legw_warmup_updates, 2 * 296 / 40.0);
  EXPECT_EQ(elastic.clip_norm, 3);
  EXPECT_EQ(elastic.tensors.size(), 4U);  // two layers, weight and bias
  EXPECT_EQ(elastic.single_minibatch, optim::SingleMinibatch::difference);
  EXPECT_TRUE(open_inputs(small_run()).optimizer->options().tensors.empty());
}

TEST(RunInputs, RefuseARuleThatTheOptimizerDoesNotGoWith) {
  RunOptions options = small_run();
  options.optimizer.name = "adadelta";
  EXPECT_THROW(open_inputs(options), std::invalid_argument);
  options.rule = "constant";
  EXPECT_NO_THROW(open_inputs(options));
}

TEST(RunInputs, RefuseEvaluationsWithoutATestSet) {
  RunOptions options = small_run();
  options.evaluate_every = 100;
  EXPECT_NO_THROW(open_inputs(options));
  const TemporaryDirectory directory;
  const auto file = directory.path() / "untested.csv";
  std::ofstream(file) << "x,label\n1,0\n2,1\n";
  options.data = {.spec = "csv:" + file.string()};
  try {
    open_inputs(options);
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()).find("--evaluate-every: the data have no test set"), 0U);
  }
}

TEST(RunInputs, RefuseABatchThatDoesNotServeAsAnOptionAndATraceAsAFile) {
  RunOptions options = small_run();
  options.batch_size = 400;  // more than an epoch
  EXPECT_THROW(open_inputs(options), std::invalid_argument);
  const TemporaryDirectory directory;
  options.trace_file = directory.path() / "trace.csv";
  EXPECT_THROW(open_inputs(options), data::MissingFileError);
  std::ofstream(options.trace_file) << "step,batchsize\n0,400\n";
  EXPECT_THROW(open_inputs(options), data::ContentError);
}

TEST(RunInputs, RefuseARunWithoutAnEndUnlessItsProgressEndsIt) {
  RunOptions options = small_run();
  options.epochs.reset();
  EXPECT_THROW(open_inputs(options), std::invalid_argument);
  options.until_progress = 3;
  EXPECT_NO_THROW(open_inputs(options));
}

}  // namespace
}  // namespace rubato::runtime
