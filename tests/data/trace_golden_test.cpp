// The reference's own schedules, assignments, operation strings, permutations and batches, number
// by number; and what becomes here of the inputs on which the reference fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "data/elastic_sampler.hpp"
#include "data/errors.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const json& golden() {
  static const json document =
      json::parse(std::ifstream(RUBATO_SOURCE_DIR "/tests/golden/trace_golden.json"));
  return document;
}

const json& named(const std::string& list, const std::string& name) {
  for (const json& entry : golden()[list]) {
    if (entry["name"] == name) return entry;
  }
  throw std::runtime_error("no entry " + name);
}

// The epochs that the reference completes. (The last one of a trace makes it fail: it wants one row
// more.)
std::vector<json> usable_epochs(const json& entry) {
  std::vector<json> usable;
  for (const json& epoch : entry["epochs"]) {
    if (epoch.contains("steps")) usable.push_back(epoch);
  }
  EXPECT_GE(usable.size(), 1U);
  return usable;
}

// CRC-32 of the numbers as little-endian 32-bit integers.
std::uint32_t crc_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<std::uint8_t> bytes;
  for (const std::uint64_t number : numbers) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<std::uint8_t>(number >> shift));
    }
  }
  return static_cast<std::uint32_t>(crc32(0, bytes.data(), static_cast<uInt>(bytes.size())));
}

TracePlan plan_of(const json& entry, std::optional<std::uint64_t> epochs) {
  BatchTrace trace = entry["trace"].is_null()
                         ? BatchTrace::constant(entry["trace_head"][0])
                         : BatchTrace::from_rows(entry["trace"].get<std::vector<std::uint64_t>>());
  PlanOptions options;
  options.samples = entry["dataset_size"];
  options.minibatch = entry["minibatch_size"];
  options.epochs = epochs;
  return {std::move(trace), options};
}

ElasticSampler sampler_of(const json& entry, std::uint64_t epochs, std::size_t rank) {
  ElasticSampler::Options options;
  options.ranks = entry["num_ranks"];
  options.rank = rank;
  options.seed = entry["seed"];
  return {plan_of(entry, epochs), options};
}

// The minibatch numbers of each update that this rank computes.
std::vector<std::vector<std::uint64_t>> minibatches_of(const ElasticSampler& sampler) {
  std::vector<std::vector<std::uint64_t>> all;
  std::size_t at = 0;
  for (const std::size_t count : sampler.substep_counts()) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t k = 0; k < count; ++k, ++at) {
      const Substep& substep = sampler.substeps()[at];
      if (!substep.is_idle) numbers.push_back(substep.minibatch.index);
    }
    all.push_back(numbers);
  }
  EXPECT_EQ(at, sampler.substeps().size());
  return all;
}

std::string operations_of(const ElasticSampler& sampler) {
  std::string operations;
  const std::vector<Substep>& substeps = sampler.substeps();
  for (std::size_t i = 0; i < substeps.size(); ++i) {
    const bool is_last = i + 1 == substeps.size() || substeps[i + 1].update != substeps[i].update;
    operations += substeps[i].is_idle ? 'D' : is_last ? 'U' : 'A';
  }
  return operations;
}

// As the reference's data loader yields them: an idle rank is fed sample 0 over and over.
std::vector<std::uint64_t> loaded_samples(const ElasticSampler& sampler, std::size_t minibatch) {
  std::vector<std::uint64_t> all;
  for (const Substep& substep : sampler) {
    if (substep.is_idle) {
      all.insert(all.end(), minibatch, 0);
    } else {
      all.insert(all.end(), substep.samples.begin(), substep.samples.end());
    }
  }
  return all;
}

void expect_rank_as_the_reference(const json& entry, const json& epoch, std::size_t rank,
                                  const ElasticSampler& sampler) {
  EXPECT_EQ(operations_of(sampler), epoch["rank_ops"][rank]);
  const auto minibatches = minibatches_of(sampler);
  ASSERT_EQ(minibatches.size(), epoch["steps"].size());
  for (std::size_t step = 0; step < minibatches.size(); ++step) {
    const json& expected = epoch["steps"][step];
    EXPECT_EQ(sampler.batch_sizes()[step], expected["batch"]);
    EXPECT_EQ(sampler.minibatch_counts()[step], expected["divisor"]);
    EXPECT_EQ(sampler.substep_counts()[step], expected["substeps_executed"][rank]);
    EXPECT_EQ(minibatches[step], expected["ranks"][rank].get<std::vector<std::uint64_t>>());
  }
  const json& loader = epoch["dataloader"][rank];
  const auto loaded = loaded_samples(sampler, entry["minibatch_size"]);
  EXPECT_EQ(loaded.size(),
            loader["batches"].get<std::size_t>() * entry["minibatch_size"].get<std::size_t>());
  EXPECT_EQ(crc_of(loaded), loader["all_batches_crc32_i32le"]);
}

TEST(TraceGolden, SchedulesAssignmentsAndBatchesOfEveryCase) {
  for (const json& entry : golden()["cases"]) {
    const std::size_t ranks = entry["num_ranks"];
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      SCOPED_TRACE(entry["name"].get<std::string>() + " rank " + std::to_string(rank));
      ElasticSampler sampler = sampler_of(entry, usable_epochs(entry).size(), rank);
      EXPECT_EQ(sampler.epochs(), usable_epochs(entry).size());
      for (const json& epoch : usable_epochs(entry)) {
        SCOPED_TRACE("epoch " + epoch["epoch"].dump());
        sampler.set_epoch(epoch["epoch"]);
        expect_rank_as_the_reference(entry, epoch, rank, sampler);
      }
    }
  }
}

TEST(TraceGolden, PartitionOfTheTraceIntoEpochs) {
  for (const json& entry : golden()["cases"]) {
    const TracePlan plan = plan_of(entry, usable_epochs(entry).size());
    EXPECT_EQ(plan.minibatches_per_epoch(), entry["minibatches_per_epoch"]);
    EXPECT_EQ(plan.epoch_samples(), entry["epoch_capacity_samples"]);
    Cursor cursor;
    for (const json& epoch : usable_epochs(entry)) {
      SCOPED_TRACE(entry["name"].get<std::string>() + " epoch " + epoch["epoch"].dump());
      EXPECT_EQ(cursor.epoch, epoch["epoch"]);
      EXPECT_EQ(cursor.row, epoch["trace_start"]);
      std::uint64_t minibatches = 0;
      const std::uint64_t samples_before = cursor.samples;
      for (bool is_open = true; is_open;) {
        const auto update = plan.next(cursor);
        ASSERT_TRUE(update);
        minibatches += update->minibatches.size();
        is_open = !update->ends_epoch;
        cursor = update->end;
      }
      EXPECT_EQ(cursor.row, epoch["trace_end"]);
      EXPECT_EQ(cursor.samples - samples_before, epoch["samples_used"]);
      EXPECT_EQ(minibatches, epoch["minibatches_used"]);
    }
    EXPECT_FALSE(plan.next(cursor));
  }
}

TEST(TraceGolden, PermutationsOfEveryEpoch) {
  for (const json& entry : golden()["cases"]) {
    const std::uint64_t samples = entry["dataset_size"];
    for (const json& epoch : usable_epochs(entry)) {
      std::vector<std::uint64_t> order(samples);
      EpochOrder(OrderKind::torch, samples, entry["seed"], epoch["epoch"]).read(0, order);
      const std::vector<std::uint64_t> head(order.begin(), order.begin() + 16);
      EXPECT_EQ(head, epoch["perm_head16"].get<std::vector<std::uint64_t>>());
      EXPECT_EQ(crc_of(order), epoch["perm_crc32_i32le"]);
    }
  }
}

// Where the reference fails.

std::vector<std::uint64_t> minibatch_sizes(const TracePlan& plan, Cursor& cursor) {
  std::vector<std::uint64_t> sizes;
  const auto update = plan.next(cursor);
  if (!update) return sizes;
  for (const Minibatch& minibatch : update->minibatches) sizes.push_back(minibatch.size);
  cursor = update->end;
  return sizes;
}

TEST(TraceGoldenErrors, AnUnfinishedLastEpochIsRefusedAndServesWithoutANumberOfEpochs) {
  const json& entry = named("cases", "A_ds1000_mb32_r3");  // row 23 alone stands in epoch 3
  EXPECT_THAT(thrown_message<ContentError>([&] { plan_of(entry, 4); }),
              HasSubstr("trace (row 23): the trace ends here, in epoch 4 of 4; 672 samples more"));
  const TracePlan plan = plan_of(entry, std::nullopt);
  EXPECT_EQ(plan.total_updates(), 24U);
  EXPECT_EQ(plan.total_samples(), 864U + 928 + 832 + 320);
}

TEST(TraceGoldenErrors, ABatchThatIsNoMultipleEndsInAShortMinibatch) {
  const TracePlan plan = plan_of(named("error_cases", "not_multiple"), std::nullopt);
  Cursor cursor;
  EXPECT_EQ(minibatch_sizes(plan, cursor), (std::vector<std::uint64_t>{32, 32}));
  EXPECT_EQ(minibatch_sizes(plan, cursor), (std::vector<std::uint64_t>{32, 32, 16}));
}

TEST(TraceGoldenErrors, ATraceThatIsTooShortIsRefusedWithWhatIsMissing) {
  const json& entry = named("error_cases", "too_short");
  EXPECT_EQ(thrown_message<ContentError>([&] { plan_of(entry, 1); }),
            "trace (row 1): the trace ends here, in epoch 1 of 1; 832 samples more are to be used, "
            "about 9 rows like the last one; make the trace longer, or use --trace-end repeat-last "
            "or stop, or ask for fewer epochs");
  EXPECT_EQ(plan_of(entry, std::nullopt).total_updates(),
            2U);  // "to the end of the trace" it serves
}

TEST(TraceGoldenErrors, NoRowIsNeededAfterTheLastEpoch) {
  EXPECT_EQ(plan_of(named("error_cases", "exactly_one_epoch"), 1).total_updates(), 2U);
  EXPECT_EQ(plan_of(named("error_cases", "exactly_two_epochs"), 2).total_updates(), 3U);
  EXPECT_THROW(plan_of(named("error_cases", "exactly_two_epochs"), 3), ContentError);
  // A single row is a trace like any other.
  EXPECT_EQ(plan_of(named("error_cases", "one_row_verbose"), std::nullopt).total_updates(), 1U);
}

TEST(TraceGoldenErrors, ARowLargerThanAnEpochIsRefused) {
  const json& entry = named("error_cases", "oversize_step");
  EXPECT_EQ(thrown_message<ContentError>([&] { plan_of(entry, std::nullopt); }),
            "trace (row 1): found batch size 256, expected at most the 128 samples of an epoch (4 "
            "minibatches of 32); use smaller batches, or --epoch-end carry");
}

TEST(TraceGoldenErrors, RowsThatAreNoWholeNumberAboveZeroAreRefused) {
  EXPECT_THROW(plan_of(named("error_cases", "zero_batch"), 1), std::invalid_argument);
  EXPECT_THROW(plan_of(named("error_cases", "empty_trace"), 1), std::invalid_argument);
  for (const char* name : {"zero_batch", "negative_batch", "float_rows"}) {
    std::string text = "batchsize\n";
    for (const json& row : named("error_cases", name)["trace"]) text += row.dump() + "\n";
    EXPECT_THAT(thrown_message<ContentError>([&] { BatchTrace::from_csv_text(text, "t.csv"); }),
                HasSubstr("expected a whole number of at least 1"))
        << name;
  }
}

TEST(TraceGoldenErrors, AMinibatchLargerThanTheDataSetIsRefused) {
  const json& entry = named("error_cases", "dataset_smaller_than_minibatch");
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { plan_of(entry, 1); }),
            "minibatch: found 32, expected at most the 16 samples of the data set");
}

TEST(TraceGoldenErrors, EveryErrorCaseIsTested) { EXPECT_EQ(golden()["error_cases"].size(), 11U); }

}  // namespace
}  // namespace rubato::data
