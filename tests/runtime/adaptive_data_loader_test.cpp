// Loaders that choose their batch sizes: within their bounds, repeated by their decisions; and what
// is refused. Loops and batches are in loader_loop_test.cpp.
#include "runtime/adaptive_data_loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "tests/runtime/small_job.hpp"

namespace rubato::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::ThrowsMessage;

class AdaptiveDataLoaderTest : public SmallJobTest {
 protected:
  static LoaderOptions adaptive_loader(bool drop_last, bool statistical) {
    return {.batch_size = 16,
            .minibatch = 8,
            .shuffle = true,
            .drop_last = drop_last,
            .statistical_epochs = statistical,
            .decision_budget = 1e9};  // consider whenever one may
  }

  struct Outcome {
    std::string digest;
    std::vector<std::uint64_t> updates;  // done when an epoch ends
    std::uint64_t largest = 0;
    bool operator==(const Outcome&) const = default;
  };

  // Leaves the second epoch after 20 updates.
  static Outcome train(Job& job, const LoaderOptions& options, bool breaks,
                       std::optional<std::uint64_t> stop_after = {},
                       optim::LocalBounds bounds = {4, 50}) {
    SmallJob parts(options);
    parts.train.autoscale_batch_size(300, bounds);
    Outcome outcome;
    for (const auto epoch : remaining_epochs_until(4)) {
      std::uint64_t in_epoch = 0;
      for (auto& batch : parts.train) {
        const StepReport report = parts.model.train(batch);
        EXPECT_LE(report.minibatch, 50U);
        outcome.largest = std::max(outcome.largest, report.batch_size);
        if (report.update == stop_after) job.stop();
        if (breaks && epoch == 1 && ++in_epoch == 20) break;
      }
      outcome.updates.push_back(parts.train.cursor().update);
    }
    outcome.digest = state_digest(job.state());
    return outcome;
  }

  fs::path decisions() const { return directory / "job" / "decisions.csv"; }

  // At which there are rows for that reason, perhaps beside others.
  std::vector<std::uint64_t> updates_where(const std::string& reason) const {
    std::vector<std::uint64_t> updates;
    std::ifstream file(decisions());
    for (std::string line; std::getline(file, line);) {
      if (line.ends_with(reason)) updates.push_back(std::stoull(line));
    }
    return updates;
  }
};

TEST_F(AdaptiveDataLoaderTest, ItsDecisionsRepeatItOnAnyNumberOfRanks) {
  std::uint64_t largest = 0;
  for (const bool drops : {false, true}) {
    for (const bool is_statistical : {false, true}) {
      for (const bool breaks : {false, true}) {
        const LoaderOptions loader = adaptive_loader(drops, is_statistical);
        Outcome expected;
        run_on(std::min<std::size_t>(2, world.size()), in_directory(),
               [&](Job& job) { expected = train(job, loader, breaks); });
        for (std::size_t ranks = 1; ranks <= world.size(); ++ranks) {
          Outcome outcome;
          run_on(ranks, {.decisions = decisions()},
                 [&](Job& job) { outcome = train(job, loader, breaks); });
          if (world.rank() == 0) {
            EXPECT_EQ(outcome, expected) << ranks << " ranks, drops " << drops << ", statistical "
                                         << is_statistical << ", breaks " << breaks;
          }
        }
        if (world.rank() == 0) {
          EXPECT_LE(expected.largest, 300U);
          largest = std::max(largest, expected.largest);
          EXPECT_EQ(expected.updates.size(), 4U);
          if (is_statistical && !breaks) {
            EXPECT_EQ(updates_where(statistical_epoch_ended), expected.updates);
          }
        }
        clear();
      }
    }
  }
  // On one rank there is nobody to wait for, and perhaps nothing to be gained.
  if (world.rank() == 0 && world.size() > 1) {
    EXPECT_GT(largest, 16U);
  }
}

// Stopped, and gone on with on other ranks: the same bits as its decisions give in one go.
TEST_F(AdaptiveDataLoaderTest, GoesOnOnOtherRanksAndIsStillRepeatedByItsDecisions) {
  for (const bool is_statistical : {false, true}) {
    const LoaderOptions loader = adaptive_loader(false, is_statistical);
    std::size_t ranks = 1;
    for (const std::uint64_t stop : {5U, 40U, 95U}) {
      run_on(ranks, in_directory(), [&](Job& job) { train(job, loader, false, stop); });
      ranks = next_ranks(ranks);
    }
    Outcome expected;
    Outcome outcome;
    run_on(world.size(), in_directory(), [&](Job& job) { expected = train(job, loader, false); });
    run_on(1, {.decisions = decisions()}, [&](Job& job) { outcome = train(job, loader, false); });
    if (world.rank() == 0) {
      EXPECT_EQ(outcome.digest, expected.digest);
    }
    clear();
  }
}

// The smallest batch of these ranks does not fit into what is left of the pass.
TEST_F(AdaptiveDataLoaderTest, APassIsOverWhereOtherRanksHaveNoRoomInIt) {
  if (world.size() == 1) return;
  const LoaderOptions loader = adaptive_loader(true, false);
  const optim::LocalBounds bounds{280, 280};
  const auto train_some = [&](Job& job, std::optional<std::uint64_t> stop) {
    SmallJob parts(loader);
    parts.train.autoscale_batch_size(bounds);
    for ([[maybe_unused]] const auto epoch : remaining_epochs_until(3)) {
      const std::uint64_t batch = parts.train.current_batch_size();
      bool is_first = true;
      for (auto& samples : parts.train) {
        const StepReport report = parts.model.train(samples);
        if (std::exchange(is_first, false)) {
          EXPECT_EQ(report.batch_size, batch);
        }
        EXPECT_LE(report.batch_size, 280 * world.size());
        if (report.update == stop) job.stop();
      }
    }
    return state_digest(job.state());
  };
  std::string expected;
  std::string found;
  run_on(1, in_directory(), [&](Job& job) { train_some(job, 4); });
  run_on(world.size(), in_directory(), [&](Job& job) { expected = train_some(job, {}); });
  run_on(1, {.decisions = decisions()}, [&](Job& job) { found = train_some(job, {}); });
  if (world.rank() != 0) return;
  EXPECT_EQ(found, expected);
}

// The bounds leave other batches on other ranks, so rows follow the one of the epoch left early.
TEST_F(AdaptiveDataLoaderTest, AnEpochLeftEarlyIsInItsDecisions) {
  const LoaderOptions loader = adaptive_loader(false, false);
  const optim::LocalBounds bounds{30, 34};
  std::size_t ranks = 1;
  for (const std::uint64_t updates_after_break : {3U, 6U}) {
    run_on(ranks, in_directory(), [&](Job& job) {
      train(job, loader, true, 20 + 1438 / 60 + updates_after_break, bounds);
    });
    ranks = next_ranks(ranks);
  }
  Outcome expected;
  Outcome outcome;
  run_on(ranks, in_directory(),
         [&](Job& job) { expected = train(job, loader, true, std::nullopt, bounds); });
  run_on(1, {.decisions = decisions()},
         [&](Job& job) { outcome = train(job, loader, true, std::nullopt, bounds); });
  if (world.rank() != 0) return;
  EXPECT_EQ(outcome.digest, expected.digest);
  EXPECT_FALSE(updates_where(epoch_left_early).empty());
}

// An epoch ends with the update at which the progress is N (epoch + 1) / B0, and the next one goes
// on in the pass: no sample is left out or comes twice.
TEST_F(AdaptiveDataLoaderTest, StatisticalEpochsEndByProgressAndGoOnInThePass) {
  Job job(world, {});
  SmallJob parts({.batch_size = 64, .minibatch = 8, .statistical_epochs = true},
                 {.reference_batch = 16});
  const double epoch_progress = 1438.0 / 16;
  data::Cursor last;
  double before = 0;
  for (const auto epoch : remaining_epochs_until(3)) {
    for (auto& batch : parts.train) {
      EXPECT_EQ(batch.update().begin, last);
      EXPECT_LT(parts.model.progress(), epoch_progress * static_cast<double>(epoch + 1));
      before = parts.model.progress();
      parts.model.train(batch);
      last = batch.update().end;
    }
    EXPECT_GE(parts.model.progress(), epoch_progress * static_cast<double>(epoch + 1));
    EXPECT_LT(before, epoch_progress * static_cast<double>(epoch + 1));
  }
  EXPECT_GT(last.position, 0U);  // as it happens
}

TEST_F(AdaptiveDataLoaderTest, TellsItsBatchSizesAndRefusesOldOnes) {
  Job job(world, {});
  SmallJob parts;
  std::optional<LocalBatchSize> kept;
  for ([[maybe_unused]] const auto epoch : remaining_epochs_until(2)) {
    if (kept) {
      EXPECT_THAT([&] { return static_cast<std::uint64_t>(*kept); },
                  ThrowsMessage<std::logic_error>(HasSubstr("asked for in another epoch")));
    }
    kept = parts.train.get_local_bsz();
    EXPECT_EQ(parts.train.current_batch_size(), 64U);
    for (auto& batch : parts.train) {
      parts.model.train(batch);
      EXPECT_EQ(*kept, 8U);
    }
  }
  EXPECT_THROW(static_cast<void>(static_cast<std::uint64_t>(*kept)), std::logic_error);
}

TEST_F(AdaptiveDataLoaderTest, RefusesWhatCannotBe) {
  const auto refused = [&](const LoaderOptions& options) {
    return refusal(
        {}, [&](Job&) { AdaptiveDataLoader(std::make_shared<CountedSamples>(100), options); });
  };
  EXPECT_THAT(refused({.batch_size = 0}), HasSubstr("batch_size is 0, expected at least 1"));
  EXPECT_EQ(refused({.batch_size = 101}), "");
  EXPECT_THAT(refused({.batch_size = 101, .drop_last = true}),
              HasSubstr("batch_size is 101, expected at most the 100 samples"));
  EXPECT_THAT(refusal({}, [](Job&) { AdaptiveDataLoader(nullptr, {.batch_size = 1}); }),
              HasSubstr("found no data set"));
}

TEST_F(AdaptiveDataLoaderTest, RefusesBoundsBeforeTraining) {
  const auto refused = [&](std::uint64_t most, optim::LocalBounds bounds) {
    return refusal({}, [&](Job&) {
      AdaptiveDataLoader loader(std::make_shared<CountedSamples>(5000), {.batch_size = 100});
      loader.autoscale_batch_size(most, bounds);
    });
  };
  const std::uint64_t ranks = world.size();
  EXPECT_EQ(refused(1000, {10, 100}), "");
  EXPECT_THAT(refused(100 * ranks + 50, {100 + 51, 200}),
              HasSubstr("autoscale_batch_size(): minibatches of at least 151 on "));
  EXPECT_THAT(refused(1000, {100, 10}), HasSubstr("lower local bound 100 is above the upper"));
  EXPECT_THAT(refused(50, {10, 100}), HasSubstr("maximum batch size 50 is below the initial"));
  Job job(world, {});
  AdaptiveDataLoader by_bounds(std::make_shared<CountedSamples>(5000), {.batch_size = 100});
  by_bounds.autoscale_batch_size(optim::LocalBounds{10, 100});
  AdaptiveDataLoader other(std::make_shared<CountedSamples>(5000), {.batch_size = 100});
  EXPECT_THROW(other.autoscale_batch_size(1000), std::logic_error);
  job.begin();
  EXPECT_THROW(by_bounds.autoscale_batch_size(1000), std::logic_error);
  EXPECT_THROW(AdaptiveDataLoader(std::make_shared<CountedSamples>(9), {}), std::logic_error);
  EXPECT_GE(by_bounds.current_batch_size(), 100U);
  EXPECT_EQ(by_bounds.limits().max_batch_size, std::nullopt);  // so: 100 for each rank
}

TEST_F(AdaptiveDataLoaderTest, RefusesARuleThatDoesNotFollowTheBatch) {
  EXPECT_THAT(refusal({},
                      [](Job& job) {
                        SmallJob parts({.batch_size = 64}, {.rule = "constant"});
                        parts.train.autoscale_batch_size(1000);
                        job.begin();
                      }),
              HasSubstr("autoscale_batch_size(): rule constant leaves the learning rate"));
}

TEST_F(AdaptiveDataLoaderTest, RefusesDecisionsThatEnd) {
  const fs::path file = directory / "dense.csv";
  if (world.rank() == 0) std::ofstream(file) << "step,batchsize\n0,16\n1,32\n";
  world.barrier();
  EXPECT_THAT(refusal(
                  {.decisions = file},
                  [](Job& job) { train(job, adaptive_loader(false, false), false); }, exit_content),
              HasSubstr("dense.csv: found a trace with a row for each update, expected an"));
}

TEST_F(AdaptiveDataLoaderTest, StatisticalEpochsNeedAModelAndAnEpoch) {
  EXPECT_THAT(refusal(
                  {},
                  [](Job& job) {
                    AdaptiveDataLoader loader(std::make_shared<CountedSamples>(9),
                                              {.batch_size = 3, .statistical_epochs = true});
                    job.begin();
                  },
                  exit_internal),
              HasSubstr("statistical_epochs is set for a loader that trains no model"));
  Job job(world, {});
  SmallJob parts({.batch_size = 64, .statistical_epochs = true});
  EXPECT_THAT([&] { parts.train.begin(); },
              ThrowsMessage<std::logic_error>(HasSubstr("and there is no epoch")));
}

}  // namespace
}  // namespace rubato::runtime
