#include "runtime/adaptive_data_parallel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/runtime/forwarding_model.hpp"
#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class AdaptiveDataParallelTest : public SmallJobTest {};

// Notes the sizes of the minibatches that it is asked for.
class NotingModel final : public ForwardingModel {
 public:
  explicit NotingModel(std::vector<std::size_t>& sizes)
      : ForwardingModel(nn::make_model("mlp:4", {8, 8, 1}, 10, nn::backend("auto"))),
        sizes_(sizes) {}
  nn::MinibatchLoss gradient(const nn::MinibatchView& minibatch, std::span<float> out) override {
    sizes_.push_back(minibatch.labels.size());
    return ForwardingModel::gradient(minibatch, out);
  }

 private:
  std::vector<std::size_t>& sizes_;
};

TEST_F(AdaptiveDataParallelTest, MakesOneUpdateOfABatch) {
  Job job(world, {});
  SmallJob parts;
  EXPECT_EQ(parts.model.gain(), 1);
  EXPECT_EQ(parts.model.progress(), 0);
  std::uint64_t updates = 0;
  for (auto& batch : parts.train) {
    const StepReport report = parts.model.train(batch);
    EXPECT_EQ(report.update, ++updates);
    EXPECT_EQ(report.batch_size, batch.size());
    EXPECT_EQ(report.substeps, (batch.size() + 7) / 8);
    EXPECT_THROW(parts.model.train(batch), std::logic_error);
  }
  EXPECT_EQ(updates, 23U);  // 22 of 64, and one of the 30 that are left
  EXPECT_GT(parts.model.progress(), 22);
}

// Its epochs are the loader's: here of 1438 samples in 23 updates.
TEST_F(AdaptiveDataParallelTest, AStudysScheduleKnowsTheEpochs) {
  Job job(world, {});
  optim::ScheduleOptions schedule;
  schedule.name = "polynomial";
  schedule.base_rate = 0.01;
  schedule.span = 4;
  schedule.warmup_span = 1;
  schedule.warmup_multiplier = 2;
  schedule.polynomial_form = optim::PolynomialForm::study;
  AdaptiveDataParallel model(nn::make_model("mlp:4", {8, 8, 1}, 10, nn::backend("auto")),
                             {.name = "sgd"}, optim::LearningRateSchedule(schedule));
  AdaptiveDataLoader train(SmallJob::source().train, {.batch_size = 64, .minibatch = 64});
  std::vector<double> rates;
  for (const auto epoch : remaining_epochs_until(3)) {
    for (auto& batch : train) rates.push_back(model.train(batch).learning_rate);
    EXPECT_EQ(rates.size(), 23 * (epoch + 1));
  }
  EXPECT_DOUBLE_EQ(rates[22], 0);
  EXPECT_DOUBLE_EQ(rates[23], 0.02);
  EXPECT_DOUBLE_EQ(rates[46], 0.02 * std::pow(1 - 2.0 / 23 / 4, 2));
}

TEST_F(AdaptiveDataParallelTest, TriesMinibatchesForALoaderThatChoosesItsBatchSizes) {
  for (const bool chooses : {false, true}) {
    std::vector<std::size_t> sizes;
    Job job(world, {});
    const AdaptiveDataParallel model(std::make_unique<NotingModel>(sizes), {.name = "sgd"},
                                     optim::LearningRateSchedule({.base_rate = 0.01}));
    AdaptiveDataLoader train(SmallJob::source().train, {.batch_size = 8 * world.size()});
    if (chooses) train.autoscale_batch_size(100 * world.size(), {8, 20});
    train.current_batch_size();  // the job begins
    ASSERT_EQ(sizes.size(), chooses ? 12 : 0);
    for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], i % 2 == 0 ? 8U : 20U);
  }
}

// A user's own substeps see the same minibatches that an update is made of.
TEST_F(AdaptiveDataParallelTest, AProgramMayLookAtTheMinibatchesItself) {
  std::string digests[2];
  for (const bool looks : {false, true}) {
    Job job(world, {});
    SmallJob parts;
    for (auto& batch : parts.train) {
      std::vector<std::int64_t> samples{0};
      for (const auto& minibatch : batch) {
        if (!looks) break;
        samples[0] += static_cast<std::int64_t>(minibatch.samples.size());
      }
      world.sum(samples);
      EXPECT_EQ(samples[0], static_cast<std::int64_t>(looks ? batch.size() : 0));
      parts.model.train(batch);
    }
    digests[looks] = state_digest(job.state());
  }
  EXPECT_EQ(digests[0], digests[1]);
}

// What is measured besides tells more, and changes nothing.
TEST_F(AdaptiveDataParallelTest, MeasuresWhatItIsAskedTo) {
  std::vector<double> losses[2];
  for (const bool measures : {false, true}) {
    Job job(world, {});
    ModelOptions options{.rule = "linear"};
    if (measures) {
      options.noise_metric = optim::NoiseMetric::both;
      options.measures_tensors = true;
      options.shadow_rules = {"adamscale"};
    }
    AdaptiveDataParallel model(nn::make_model("mlp:4", {8, 8, 1}, 10, nn::backend("auto")),
                               {.name = "adam"}, optim::LearningRateSchedule({.base_rate = 0.01}),
                               options);
    AdaptiveDataLoader train(SmallJob::source().train, {.batch_size = 64, .minibatch = 8});
    StepReport report;
    for (auto& batch : train) {
      report = model.train(batch);
      losses[measures].push_back(report.loss);
    }
    ASSERT_EQ(report.tensor_noise.size(), measures ? 4U : 0U);
    ASSERT_EQ(report.shadow_rates.size(), measures ? 1U : 0U);
    if (!measures) continue;
    EXPECT_EQ(report.tensor_noise[1].tensor, model.layout().tensors()[1].name);
    for (const TensorNoise& noise : report.tensor_noise) EXPECT_GE(noise.noise_scale, 0);
    EXPECT_GT(report.shadow_rates[0].rate, 0);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST_F(AdaptiveDataParallelTest, EvaluatesEverySampleOnce) {
  std::vector<double> losses;
  for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
    run_on(ranks, {}, [&](Job& job) {
      SmallJob parts;
      std::vector<std::int64_t> samples{0};
      double loss = 0;
      for (auto& batch : parts.test) {
        const Evaluation result = parts.model.evaluate(batch);
        samples[0] += static_cast<std::int64_t>(result.samples);
        loss += result.loss_sum;
      }
      job.communicator().sum(samples);
      EXPECT_EQ(samples[0], 359);
      std::vector<double> all{loss};
      job.communicator().sum(all);
      losses.push_back(all[0]);
    });
  }
  for (const double loss : losses) EXPECT_NEAR(loss, losses[0], 1e-9 * losses[0]);
}

TEST_F(AdaptiveDataParallelTest, RefusesBatchesOfOtherLoaders) {
  Job job(world, {});
  SmallJob parts;
  for (auto& batch : parts.test) {
    EXPECT_THROW(parts.model.train(batch), std::logic_error);
    break;
  }
}

TEST_F(AdaptiveDataParallelTest, RefusesWrongOptionsOnAllRanks) {
  const auto refused = [&](const optim::OptimizerOptions& optimizer, const ModelOptions& options) {
    return refusal({}, [&](Job&) {
      AdaptiveDataParallel(nn::make_model("linear", {8, 8, 1}, 10, nn::backend("auto")), optimizer,
                           optim::LearningRateSchedule({.base_rate = 0.1}), options);
    });
  };
  EXPECT_EQ(refused({}, {}), "");
  EXPECT_THAT(refused({.name = "sdg"}, {}), HasSubstr("sdg"));
  EXPECT_THAT(refused({}, {.rule = "adamantine"}), HasSubstr("adamantine"));
  EXPECT_THAT(refused({.name = "adadelta"}, {}), HasSubstr("adadelta"));
  EXPECT_THAT(refused({}, {.reference_batch = -1}), HasSubstr("-1"));
}

TEST_F(AdaptiveDataParallelTest, AJobHasOneModelMadeBeforeItsFirstLoopAndALoaderForIt) {
  {
    Job job(world, {});
    SmallJob parts;
    EXPECT_THROW(SmallJob(), std::logic_error);
  }
  Job job(world, {});
  const auto model = nn::make_model("linear", {8, 8, 1}, 10, nn::backend("auto"));
  AdaptiveDataParallel alone(nn::make_model("linear", {8, 8, 1}, 10, nn::backend("auto")), {},
                             optim::LearningRateSchedule({.base_rate = 0.1}));
  try {
    job.begin();
    ADD_FAILURE() << "has begun without a loader";
  } catch (const collectives::AgreedFailure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("there is no loader to train on"));
  }
}

TEST_F(AdaptiveDataParallelTest, RefusesDecisionsOfBatchesThatDoNotChange) {
  EXPECT_THAT(refusal({.decisions = directory / "decisions.csv"},
                      [](Job& job) {
                        SmallJob parts;
                        job.begin();
                      }),
              HasSubstr("the job is to repeat decisions, and this loader's batches do not change"));
}

TEST_F(AdaptiveDataParallelTest, ADivergedTrainingEndsOnAllRanksAlike) {
  Job job(world, {});
  AdaptiveDataParallel model(nn::make_model("mlp:8", {8, 8, 1}, 10, nn::backend("auto")), {},
                             optim::LearningRateSchedule({.base_rate = 1e30}));
  AdaptiveDataLoader train(SmallJob::source().train, {.batch_size = 64});
  try {
    for (int pass = 0; pass < 3; ++pass) {
      for (auto& batch : train) model.train(batch);
    }
    ADD_FAILURE() << "has not diverged";
  } catch (const collectives::AgreedFailure& failure) {
    EXPECT_EQ(failure.failure().exit_code, exit_internal);
    EXPECT_THAT(failure.what(), HasSubstr("update "));
  }
}

}  // namespace
}  // namespace rubato::runtime
