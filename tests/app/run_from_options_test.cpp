#include "app/run_from_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/failure.hpp"
#include "app/train_options.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using testing::StrEq;
using testing::ThrowsMessage;

// The run of a small task with more options.
runtime::RunOptions run_with(std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"--data", "digits", "--batch-size", "32"});
  return run_from(train_table().parse(more));
}

void expect_refused(const std::vector<std::string>& more, const std::string& sentence) {
  EXPECT_THAT([&] { run_with(more); }, ThrowsMessage<UsageError>(StrEq(sentence)));
}

TEST(RunFromOptions, HasTheDefaultsOfTheHelp) {
  const auto run = run_with();
  EXPECT_EQ(run.data.spec, "digits");
  EXPECT_EQ(run.batch_size, 32U);
  EXPECT_EQ(run.trace_file, "");
  EXPECT_EQ(run.model, "mlp:512,512");
  EXPECT_EQ(run.seed, 42U);
  EXPECT_EQ(run.minibatch, 32U);
  EXPECT_EQ(run.optimizer.name, "sgd");
  EXPECT_EQ(run.optimizer.momentum, 0.9);
  EXPECT_EQ(run.schedule.name, "constant");
  EXPECT_EQ(run.schedule.base_rate, 0.05);
  EXPECT_EQ(run.rule, "linear");
  EXPECT_EQ(run.reference_batch, std::nullopt);
  EXPECT_EQ(run.output, std::nullopt);
  EXPECT_TRUE(run.shadow_rules.empty());
}

TEST(RunFromOptions, TakesWhatSaysWhichSamples) {
  const auto run = run_from(train_table().parse(
      {"--data",      "csv:a.csv", "--test-every", "5",       "--label-column",   "y",
       "--trace",     "t.csv",     "--minibatch",  "7",       "--epochs",         "3",
       "--trace-end", "stop",      "--epoch-end",  "carry",   "--seed",           "9",
       "--order",     "feistel",   "--assignment", "strided", "--until-progress", "4.5"}));
  EXPECT_EQ(run.data.spec, "csv:a.csv");
  EXPECT_EQ(run.data.test_every, 5U);
  EXPECT_EQ(run.data.label_column, "y");
  EXPECT_EQ(run.trace_file, "t.csv");
  EXPECT_EQ(run.minibatch, 7U);
  EXPECT_EQ(run.epochs, 3U);
  EXPECT_EQ(run.updates, std::nullopt);
  EXPECT_EQ(run.trace_end, data::TraceEnd::stop);
  EXPECT_EQ(run.epoch_end, data::EpochEnd::carry);
  EXPECT_EQ(run.seed, 9U);
  EXPECT_EQ(run.order, data::OrderKind::feistel);
  EXPECT_EQ(run.assignment, data::Assignment::strided);
  EXPECT_EQ(run.until_progress, 4.5);
}

TEST(RunFromOptions, TakesWhatBecomesOfTheSamples) {
  EXPECT_EQ(run_with().augmentation, data::Augmentation::none);
  EXPECT_TRUE(run_with().data.mean.empty());
  const auto run = run_with({"--augment", "crop-flip", "--data-mean", "0.4914,0.4822,0.4465",
                             "--data-deviation", "0.25"});
  EXPECT_EQ(run.augmentation, data::Augmentation::crop_flip);
  EXPECT_THAT(run.data.mean, ElementsAre(0.4914F, 0.4822F, 0.4465F));
  EXPECT_THAT(run.data.deviation, ElementsAre(0.25F));
  expect_refused({"--data-mean", "1,x"}, "--data-mean: found \"x\", expected a number");
  expect_refused({"--data-deviation", "nan"}, "--data-deviation: found \"nan\", expected a number");
  expect_refused({"--data-deviation", "1,0"}, "--data-deviation 1,0: expected numbers above 0");
}

TEST(RunFromOptions, TakesProgressAndUpdatesTogether) {
  const auto run = run_with({"--updates", "20", "--until-progress", "30"});
  EXPECT_EQ(run.updates, 20U);
  EXPECT_EQ(run.until_progress, 30);
}

TEST(RunFromOptions, TakesTheOptimizer) {
  const auto sgd =
      run_with({"--momentum", "0.5", "--momentum-form", "v-corrected", "--weight-decay", "0.01"})
          .optimizer;
  EXPECT_EQ(sgd.momentum, 0.5);
  EXPECT_EQ(sgd.form, optim::MomentumForm::v_corrected);
  EXPECT_EQ(sgd.weight_decay, 0.01);
  EXPECT_TRUE(run_with({"--nesterov"}).optimizer.nesterov);
  const auto adam =
      run_with({"--optimizer", "adamw", "--beta1", "0.8", "--beta2", "0.99", "--epsilon", "1e-6"})
          .optimizer;
  EXPECT_EQ(adam.name, "adamw");
  EXPECT_EQ(adam.momentum, 0);
  EXPECT_EQ(adam.beta1, 0.8);
  EXPECT_EQ(adam.beta2, 0.99);
  EXPECT_EQ(adam.epsilon, 1e-6);
  const auto adadelta = run_with({"--optimizer", "adadelta", "--rule", "constant"}).optimizer;
  EXPECT_EQ(adadelta.rho, 0.9);
  EXPECT_EQ(adadelta.epsilon, 1e-6);
  EXPECT_EQ(run_with({"--optimizer", "adadelta", "--rule", "constant", "--rho", "0.8",
                      "--adadelta-epsilon", "1e-3"})
                .optimizer.epsilon,
            1e-3);
}

TEST(RunFromOptions, TakesTheOptimizersThatStepTensorByTensor) {
  const auto paper = run_with({"--optimizer", "lars"}).optimizer;
  EXPECT_EQ(paper.lars_form, optim::LarsForm::paper);
  EXPECT_EQ(paper.momentum, 0.9);
  EXPECT_EQ(paper.trust, 0.001);
  EXPECT_EQ(paper.epsilon, 0);
  const auto clip = run_with({"--optimizer", "lars", "--lars-form", "clip", "--trust", "0.02",
                              "--lars-epsilon", "1e-8", "--momentum", "0.8"})
                        .optimizer;
  EXPECT_EQ(clip.lars_form, optim::LarsForm::clip);
  EXPECT_EQ(clip.trust, 0.02);
  EXPECT_EQ(clip.epsilon, 1e-8);
  EXPECT_EQ(clip.momentum, 0.8);
  const auto lamb = run_with({"--optimizer", "lamb", "--beta2", "0.99"}).optimizer;
  EXPECT_EQ(lamb.beta2, 0.99);
  EXPECT_EQ(lamb.epsilon, 1e-6);
}

TEST(RunFromOptions, TakesTheSchedule) {
  const auto multistep = run_with({"--schedule", "multistep", "--milestones", "1,2.5,4", "--gamma",
                                   "0.5", "--schedule-by", "progress", "--lr", "0.3", "--warmup",
                                   "2", "--warmup-start", "0.25"})
                             .schedule;
  EXPECT_THAT(multistep.milestones, ElementsAre(1, 2.5, 4));
  EXPECT_EQ(multistep.gamma, 0.5);
  EXPECT_EQ(multistep.unit, optim::ScheduleUnit::progress);
  EXPECT_EQ(multistep.base_rate, 0.3);
  EXPECT_EQ(multistep.warmup_span, 2);
  EXPECT_EQ(multistep.warmup_start, 0.25);
  EXPECT_EQ(run_with({"--schedule", "step", "--step-size", "3"}).schedule.step_size, 3);
  const auto cosine = run_with({"--schedule", "cosine", "--span", "8", "--end-lr", "0.01"});
  EXPECT_EQ(cosine.schedule.span, 8);
  EXPECT_EQ(cosine.schedule.end_rate, 0.01);
  const auto polynomial =
      run_with({"--schedule", "polynomial", "--epochs", "10", "--power", "1.5", "--warmup", "1"});
  EXPECT_EQ(polynomial.schedule.span, 9);
  EXPECT_EQ(polynomial.schedule.power, 1.5);
}

TEST(RunFromOptions, TakesAWarmUpToAMultiple) {
  const auto plain = run_with({"--warmup", "5"}).schedule;
  EXPECT_EQ(plain.warmup_start, 0);
  EXPECT_EQ(plain.warmup_multiplier, 1);
  const auto gradual = run_with({"--warmup", "5", "--warmup-multiplier", "8"}).schedule;
  EXPECT_EQ(gradual.warmup_start, 1);
  EXPECT_EQ(gradual.warmup_multiplier, 8);
  EXPECT_EQ(run_with({"--warmup", "5", "--warmup-multiplier", "8", "--warmup-start", "0.5"})
                .schedule.warmup_start,
            0.5);
  expect_refused({"--warmup-multiplier", "8"},
                 "--warmup-multiplier: there is no warm-up; give its length, --warmup U");
}

TEST(RunFromOptions, TakesTheFormOfAPolynomial) {
  const std::vector<std::string> descent{"--schedule", "polynomial", "--epochs",
                                         "200",        "--warmup",   "5"};
  EXPECT_EQ(run_with(descent).schedule.polynomial_form, optim::PolynomialForm::plain);
  auto study = descent;
  study.insert(study.end(), {"--polynomial-form", "study-ahead"});
  EXPECT_EQ(run_with(study).schedule.polynomial_form, optim::PolynomialForm::study_ahead);
  EXPECT_EQ(run_with(study).schedule.span, 200);
}

TEST(RunFromOptions, LetsACosineTakeWhatTheWarmUpLeaves) {
  EXPECT_EQ(run_with({"--schedule", "cosine", "--epochs", "10"}).schedule.span, 10);
  EXPECT_EQ(run_with({"--schedule", "cosine", "--epochs", "10", "--warmup", "1.5"}).schedule.span,
            8.5);
  const std::string asks = "--schedule cosine: give its length, --span U";
  expect_refused({"--schedule", "cosine"}, asks);
  expect_refused({"--schedule", "cosine", "--epochs", "10", "--schedule-by", "update"}, asks);
  expect_refused({"--schedule", "cosine", "--epochs", "2", "--warmup", "2"},
                 "--schedule cosine: the warm-up takes all of --epochs; make it shorter");
}

TEST(RunFromOptions, TakesHowItIsCarriedOut) {
  const auto run = run_with({"--rule", "adascale", "--reference-batch", "64", "--sum", "fast",
                             "--allreduce", "ring", "--backend", "onednn-direct", "--isa", "avx2",
                             "--shadow-rates", "--out", "runs/a", "--overwrite"});
  EXPECT_EQ(run.rule, "adascale");
  EXPECT_EQ(run.reference_batch, 64);
  EXPECT_EQ(run.sum, optim::SumKind::fast);
  EXPECT_EQ(run.allreduce, collectives::AllreduceAlgorithm::ring);
  EXPECT_EQ(run.backend, "onednn-direct");
  EXPECT_EQ(run.isa, "avx2");
  EXPECT_EQ(run.shadow_rules, optim::rule_names());
  EXPECT_EQ(run.output, "runs/a");
  EXPECT_EQ(run.output_mode, runtime::OutputMode::overwrite);
  EXPECT_THAT(run.configuration, testing::HasSubstr("rule = adascale\n"));
}

TEST(RunFromOptions, TakesWhatIsMeasuredOfGradients) {
  const auto run = run_with({"--rule", "legw", "--legw-warmup", "1.5", "--clip-norm", "0.5",
                             "--single-minibatch", "difference", "--noise-metric", "preconditioned",
                             "--optimizer", "adam", "--tensor-noise"});
  EXPECT_EQ(run.legw_warmup, 1.5);
  EXPECT_EQ(run.clip_norm, 0.5);
  EXPECT_EQ(run.single_minibatch, optim::SingleMinibatch::difference);
  EXPECT_EQ(run.noise_metric, optim::NoiseMetric::preconditioned);
  EXPECT_TRUE(run.measures_tensors);
  const auto plain = run_with();
  EXPECT_EQ(plain.clip_norm, 0);
  EXPECT_EQ(plain.single_minibatch, optim::SingleMinibatch::hold);
  EXPECT_EQ(plain.noise_metric, optim::NoiseMetric::automatic);
  EXPECT_FALSE(plain.measures_tensors);
}

TEST(RunFromOptions, RefusesLegwWithoutItsWarmUp) {
  expect_refused({"--rule", "legw"},
                 "--rule legw: give the warm-up of the reference batch, --legw-warmup E");
  expect_refused({"--legw-warmup", "1"},
                 "--legw-warmup needs --rule legw, but the run has --rule linear");
}

TEST(RunFromOptions, RefusesWhatWouldHaveNoEffect) {
  expect_refused({"--warmup-start", "0.1"},
                 "--warmup-start: there is no warm-up to start; give its length, --warmup U");
  expect_refused({"--schedule-by", "update"},
                 "--schedule-by update: nothing counts in it; give --schedule or --warmup");
  expect_refused({"--overwrite"}, "--overwrite: no directory is written to; give --out DIR");
  EXPECT_NO_THROW(run_with({"--schedule-by", "update", "--warmup", "5"}));
}

TEST(RunFromOptions, RefusesHalfAMultistep) {
  expect_refused({"--schedule", "multistep"},
                 "--schedule multistep: give its --milestones U,U,...");
  expect_refused({"--schedule", "multistep", "--milestones", "1,,2"},
                 "--milestones: found \"\", expected a number");
}

TEST(RunFromOptions, RefusesARunOfNothing) {
  EXPECT_THAT(
      [] {
        run_from(train_table().parse({"--batch-size", "32"}));
      },
      ThrowsMessage<UsageError>(StrEq("no data: give --data SPEC (digits, say)")));
  EXPECT_THAT(
      [] {
        run_from(train_table().parse({"--data", "digits"}));
      },
      ThrowsMessage<UsageError>(
          StrEq("no batch size: give --trace FILE.csv, --batch-size N or --adaptive LIMITS")));
}

}  // namespace
}  // namespace rubato::app
