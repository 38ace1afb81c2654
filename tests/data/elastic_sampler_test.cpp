// What the golden vectors do not show: idle ranks, carry, the blocked assignment, and the whole
// over all ranks.
#include "data/elastic_sampler.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TracePlan carry_plan(std::vector<std::uint64_t> rows, std::uint64_t samples,
                     std::uint64_t minibatch, std::uint64_t epochs) {
  PlanOptions options;
  options.samples = samples;
  options.minibatch = minibatch;
  options.epoch_end = EpochEnd::carry;
  options.epochs = epochs;
  return {BatchTrace::from_rows(std::move(rows)), options};
}

ElasticSampler sampler_of(const TracePlan& plan, std::size_t ranks, std::size_t rank,
                          Assignment assignment) {
  return {plan, {ranks, rank, 42, OrderKind::torch, assignment}};
}

// The reference's lists, as far as they are not padded: rank r has the samples base + r, base + r +
// R, ... and the reference then repeats samples from the start to fill the last round.
TEST(ElasticSampler, HasTheReferencesSamplesWithoutItsPadding) {
  const auto golden = nlohmann::json::parse(
      std::ifstream(RUBATO_SOURCE_DIR "/tests/golden/elastic_sampler_golden.json"));
  for (const auto& entry : golden["sampler"]) {
    const std::uint64_t samples = entry["dataset"];
    const std::uint64_t base = entry["base_index"];
    std::vector<std::uint64_t> rows{samples - base};
    if (base > 0) rows.insert(rows.begin(), base);
    const TracePlan plan(BatchTrace::from_rows(rows), {.samples = samples, .minibatch = 1});
    std::vector<int> uses(samples, 0);
    for (std::size_t rank = 0; rank < entry["replicas"]; ++rank) {
      std::vector<std::uint64_t> found;
      for (const Substep& substep : ElasticSampler(plan, {.ranks = entry["replicas"],
                                                         .rank = rank,
                                                         .order = OrderKind::sequential,
                                                         .assignment = Assignment::strided})) {
        const bool is_rest = substep.update + 1 == rows.size();
        if (!is_rest || substep.is_idle) continue;
        found.insert(found.end(), substep.samples.begin(), substep.samples.end());
      }
      std::vector<std::uint64_t> expected = entry["ranks"][rank];
      const std::size_t ranks = entry["replicas"];
      const std::uint64_t first = base + rank;
      expected.resize(first < samples ? (samples - first + ranks - 1) / ranks : 0);
      EXPECT_EQ(found, expected) << entry;
      for (const std::uint64_t sample : found) ++uses[sample];
    }
    for (std::uint64_t sample = 0; sample < samples; ++sample) {
      EXPECT_EQ(uses[sample], sample < base ? 0 : 1) << entry;
    }
  }
}

TEST(ElasticSampler, UnderCarryAllRanksTogetherUseEverySampleOncePerEpoch) {
  const TracePlan plan = carry_plan({7, 30, 5, 11, 40, 3, 8}, 20, 4, 5);
  for (const Assignment assignment : {Assignment::blocked, Assignment::strided}) {
    for (std::size_t ranks = 1; ranks <= 5; ++ranks) {
      std::map<std::pair<std::uint64_t, std::uint64_t>, int> uses;  // (epoch, sample)
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        ElasticSampler sampler = sampler_of(plan, ranks, rank, assignment);
        for (std::uint64_t epoch = 0; epoch < sampler.epochs(); ++epoch) {
          sampler.set_epoch(epoch);
          for (const Substep& substep : sampler) {
            EXPECT_EQ(substep.samples.size(), substep.minibatch.size);
            for (const auto sample : substep.samples) ++uses[{substep.minibatch.epoch, sample}];
          }
        }
      }
      EXPECT_EQ(uses.size(), 100U);
      for (const auto& [use, times] : uses) EXPECT_EQ(times, 1) << use.first << " " << use.second;
    }
  }
}

TEST(ElasticSampler, AnIdleRankSeesTheUpdateWithoutSamples) {
  const TracePlan plan = carry_plan({4, 8, 8}, 20, 4, 1);
  const ElasticSampler sampler = sampler_of(plan, 3, 2, Assignment::blocked);
  ASSERT_EQ(sampler.substeps().size(), 3U);
  for (std::size_t update = 0; update < 3; ++update) {
    const Substep& substep = sampler.substeps()[update];
    EXPECT_TRUE(substep.is_idle);
    EXPECT_EQ(substep.update, update);
    EXPECT_TRUE(substep.samples.empty());
  }
  EXPECT_EQ(sampler.substep_counts(), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(sampler.minibatch_counts(), (std::vector<std::size_t>{1, 2, 2}));
}

TEST(ElasticSampler, BlockedGivesContiguousSlots) {
  const TracePlan plan = carry_plan({20}, 20, 4, 1);
  const ElasticSampler first = sampler_of(plan, 2, 0, Assignment::blocked);
  const ElasticSampler second = sampler_of(plan, 2, 1, Assignment::blocked);
  ASSERT_EQ(first.substeps().size(), 3U);
  ASSERT_EQ(second.substeps().size(), 2U);
  EXPECT_EQ(first.substeps()[2].slot, 2U);
  EXPECT_EQ(second.substeps()[0].slot, 3U);
  EXPECT_EQ(second.substeps()[0].minibatch, (Minibatch{0, 3, 12, 4}));
}

TEST(ElasticSampler, AnEpochInWhichNoUpdateBeginsIsEmpty) {
  ElasticSampler sampler = sampler_of(carry_plan({30, 5, 5}, 10, 4, 4), 1, 0, Assignment::strided);
  EXPECT_EQ(sampler.epochs(), 4U);
  EXPECT_EQ(sampler.batch_sizes(), (std::vector<std::uint64_t>{30}));
  for (const std::uint64_t epoch : {1U, 2U}) {
    sampler.set_epoch(epoch);
    EXPECT_TRUE(sampler.substeps().empty());
  }
  sampler.set_epoch(3);
  EXPECT_EQ(sampler.batch_sizes(), (std::vector<std::uint64_t>{5, 5}));
  EXPECT_EQ(thrown_message<std::out_of_range>([&] { sampler.set_epoch(4); }),
            "elastic sampler: found epoch 4, expected less than 4");
}

TEST(ElasticSampler, RefusesAPlanWithoutEnd) {
  PlanOptions options;
  options.samples = 10;
  options.minibatch = 2;
  const TracePlan plan(BatchTrace::constant(4), options);
  EXPECT_EQ(
      thrown_message<std::invalid_argument>([&] { sampler_of(plan, 1, 0, Assignment::strided); }),
      "elastic sampler: the trace has no end, expected a number of epochs or updates");
}

}  // namespace
}  // namespace rubato::data
