// The promise: the same bits for any number of ranks. Each case trains twice, once on rank 0 alone
// and once on all ranks, and compares the digests of the whole training state: weights, running
// statistics, optimizer, rule, position.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "optim/scaling_rules.hpp"
#include "tests/runtime/small_runs.hpp"
#include "tests/runtime/uneven_run.hpp"

namespace rubato::runtime {
namespace {

using collectives::AllreduceAlgorithm;

class PromiseTest : public UnevenRunTest {
 protected:
  // On all ranks, of a run on rank 0.
  std::string digest_alone(const RunOptions& options) const {
    std::string digest;
    if (world.rank() == 0) digest = digest_of_run(self, options);
    return world.broadcast(digest, 0);
  }

  void expect_same_result(const RunOptions& options, const std::string& label) {
    const std::string expected = digest_alone(options);
    EXPECT_EQ(digest_of_run(world, options), expected) << label;
  }

  // By how much an update of 16 minibatches ends later than it could, when rank r, or the r-th
  // last, takes r + 1 ms for each.
  static double lateness(const StepReport& report, bool first_is_fastest) {
    std::vector<double> seconds;
    double finish = 0;
    const std::size_t ranks = report.rank_times.size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      seconds.push_back(static_cast<double>(first_is_fastest ? rank + 1 : ranks - rank));
      finish = std::max(finish, seconds.back() * report.rank_times[rank].whole_minibatches);
    }
    const std::vector<double> work(16, 1.0);
    const auto best = data::balanced_owners(seconds, work);
    return finish / data::finishing_seconds(best, seconds, work);
  }
};

TEST_F(PromiseTest, ForEveryRuleOptimizerAndMomentumForm) {
  for (const std::string& rule : optim::rule_names()) {
    for (const std::string& optimizer : optim::optimizer_names()) {
      if (optimizer == "adadelta" && rule != "constant") continue;
      RunOptions options = uneven_run();
      options.rule = rule;
      options.optimizer.name = optimizer;
      options.optimizer.weight_decay = 1e-3;
      if (optimizer != "sgd" && optimizer != "lars") options.optimizer.momentum = 0;
      if (rule == "legw") options.legw_warmup = 0.5;
      expect_same_result(options, rule + ", " + optimizer);
    }
  }
  for (const auto form : {optim::MomentumForm::v, optim::MomentumForm::v_corrected}) {
    RunOptions options = uneven_run();
    options.optimizer.form = form;
    expect_same_result(options, "momentum form");
  }
}

// With tensors that cross slices, those of one dimension among them.
TEST_F(PromiseTest, ForOptimizersThatStepTensorByTensor) {
  for (const std::string& form : optim::lars_form_names()) {
    RunOptions options = uneven_run();
    options.model = "mlp:90,80";
    options.optimizer.name = "lars";
    options.optimizer.lars_form = optim::lars_form(form);
    options.optimizer.trust = 0.02;
    options.optimizer.weight_decay = 1e-3;
    expect_same_result(options, "lars, " + form);
    options.clip_norm = 0.5;
    options.measures_tensors = true;
    expect_same_result(options, "lars, clipped and measured, " + form);
  }
  RunOptions options = uneven_run();
  options.data.spec = "synthetic:samples=200,shape=1x28x28,classes=10";
  options.model = "mnist";
  options.updates = 6;
  for (const char* name : {"lars", "lamb"}) {
    options.optimizer.name = name;
    expect_same_result(options, std::string(name) + ", convolutions");
  }
}

// Over several epochs; and what augments changes the result.
TEST_F(PromiseTest, ForAugmentedImages) {
  RunOptions options = uneven_run();
  options.trace_end = data::TraceEnd::repeat_last;
  options.epochs = 3;
  const std::string plain = digest_alone(options);
  options.augmentation = data::Augmentation::crop_flip;
  expect_same_result(options, "crop-flip");
  EXPECT_NE(digest_alone(options), plain);
}

// Twice 12 updates: of uneven batches, and of one minibatch each, the last of an epoch short.
TEST_F(PromiseTest, ForEverythingThatIsMeasuredOfGradients) {
  for (const bool is_single : {false, true}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      RunOptions options = is_single ? single_minibatches_run(40) : uneven_run();
      if (is_single) options.epoch_end = data::EpochEnd::carry;
      measure_everything(options, optimizer);
      expect_same_result(options, std::string(optimizer) + (is_single ? ", single" : ""));
    }
  }
}

// Nor do assignment and algorithm change the result: one run alone stands beside all of theirs.
TEST_F(PromiseTest, ForEveryAssignmentEpochEndAndAlgorithm) {
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const auto order : {data::OrderKind::torch, data::OrderKind::feistel}) {
      RunOptions options = uneven_run();
      options.epoch_end = epoch_end;
      options.order = order;
      const std::string expected = digest_alone(options);
      for (const auto assignment : {data::Assignment::blocked, data::Assignment::strided}) {
        for (const auto algorithm :
             {AllreduceAlgorithm::automatic, AllreduceAlgorithm::library, AllreduceAlgorithm::ring,
              AllreduceAlgorithm::recursive_doubling, AllreduceAlgorithm::node_shared}) {
          options.assignment = assignment;
          options.allreduce = algorithm;
          EXPECT_EQ(digest_of_run(world, options), expected)
              << to_string(epoch_end) << ", " << to_string(order) << ", " << to_string(assignment)
              << ", " << to_string(algorithm);
        }
      }
    }
  }
}

// Clocks by which rank r takes r + 1 ms for a minibatch at first, and in the end the other way
// round: who runs what changes as the run goes on, the result does not.
TEST_F(PromiseTest, ForABalancedAssignmentOverRanksOfUnevenSpeed) {
  const std::size_t ranks = world.size();
  for (const char* rule : {"linear", "adascale"}) {
    RunOptions options = uneven_run();
    options.rule = rule;
    options.trace_end = data::TraceEnd::repeat_last;  // 16 minibatches
    options.updates = 40;
    const std::string expected = digest_alone(options);
    options.assignment = data::Assignment::balanced;
    options.substep_clock = [rank = world.rank(), ranks, calls = 0, now = 0.0]() mutable {
      now += 1e-3 * static_cast<double>(++calls < 60 ? rank + 1 : ranks - rank);
      return now;
    };
    Trainer trainer(world, options, collectives::plain_failure);
    Recorder recorder;
    trainer.run({&recorder});
    EXPECT_EQ(state_digest(trainer.state()), expected) << rule;
    if (world.rank() != 0) continue;
    EXPECT_GT(recorder.ends.at(0).waiting_share, 0) << rule;
    EXPECT_EQ(recorder.ends.at(0).waiting_seconds.size(), ranks) << rule;
    EXPECT_LE(lateness(recorder.updates.at(11), /*first_is_fastest=*/true), 1.03) << rule;
    EXPECT_LE(lateness(recorder.updates.at(39), /*first_is_fastest=*/false), 1.03) << rule;
    EXPECT_GT(lateness(recorder.updates.at(11), /*first_is_fastest=*/false), 1.03) << rule;
  }
}

TEST_F(PromiseTest, ForConvolutionsBatchNormAndDropout) {
  for (const char* model : {"mnist", "mnist-tutorial"}) {
    for (const char* backend : {"auto", "eigen"}) {
      RunOptions options = uneven_run();
      options.data.spec = "synthetic:samples=200,shape=1x28x28,classes=10";
      options.model = model;
      options.backend = backend;
      options.rule = "adascale";
      options.updates = 6;
      expect_same_result(options, std::string(model) + ", " + backend);
    }
  }
}

// Which hosts may send as factors (dense_factors.hpp), in updates of one minibatch a rank or a few.
TEST_F(PromiseTest, ForDenseLayersOfManyWeights) {
  for (const char* rule : {"linear", "adascale"}) {
    for (const bool is_single : {false, true}) {
      RunOptions options = is_single ? single_minibatches_run(30) : uneven_run();
      if (is_single) options.batch_size = 2 * options.minibatch;
      options.model = "mlp:192,160";
      options.rule = rule;
      expect_same_result(options, std::string(rule) + (is_single ? ", two minibatches" : ""));
    }
  }
}

// Rows that hold for many updates, end epochs early and change the minibatch in their middle.
TEST_F(PromiseTest, ForMinibatchesThatChange) {
  if (world.rank() == 0) {
    std::ofstream(directory / "sparse.csv")
        << "update,batchsize,minibatch,epoch\n0,40,8,0\n3,44,11,0\n5,9,4,1\n12,64,5,1\n";
  }
  world.barrier();
  for (const auto epoch_end : {data::EpochEnd::drop, data::EpochEnd::carry}) {
    for (const auto assignment : {data::Assignment::strided, data::Assignment::balanced}) {
      RunOptions options = uneven_run();
      options.data.spec = "synthetic:samples=240,shape=1x28x28,classes=4";
      options.model = "mnist-tutorial";
      options.trace_file = directory / "sparse.csv";
      options.epochs = 2;
      options.epoch_end = epoch_end;
      options.assignment = assignment;
      options.rule = "adascale";
      expect_same_result(options, to_string(epoch_end) + ", " + to_string(assignment));
    }
  }
}

TEST_F(PromiseTest, ForSchedulesThatCountInProgress) {
  RunOptions options = uneven_run();
  options.rule = "adascale";
  options.schedule.name = "cosine";
  options.schedule.unit = optim::ScheduleUnit::progress;
  options.schedule.span = 20;
  options.schedule.warmup_span = 5;
  options.trace_end = data::TraceEnd::repeat_last;
  options.until_progress = 15;
  expect_same_result(options, "until progress");
}

// The test itself can tell: under the fast sum, the order of additions shows (except between one
// rank and two by chance).
TEST_F(PromiseTest, TheFastSumMakesNoSuchPromise) {
  if (world.size() < 3) return;
  RunOptions options = uneven_run();
  options.sum = optim::SumKind::fast;
  options.assignment = data::Assignment::strided;
  const std::string together = digest_of_run(world, options);
  if (world.rank() == 0) {
    EXPECT_NE(together, digest_of_run(self, options));
  }
}

}  // namespace
}  // namespace rubato::runtime
