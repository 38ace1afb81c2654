// The record of a run, and what all ranks must agree on.
#include "runtime/run_context.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "collectives/communicator.hpp"
#include "data/errors.hpp"
#include "nn/backend.hpp"
#include "tests/runtime/counted_samples.hpp"
#include "tests/runtime/small_runs.hpp"

namespace rubato::runtime {
namespace {

template <class Entry>
std::string value_of(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? "(none)" : found->value;
}

class RunContextTest : public testing::Test {
 protected:
  RunContextTest() {
    options.configuration = "seed = 42\n";
    nn::select_kernels(nn::backend(options.backend), options.isa);
    source = data::open_data(options.data);
  }
  RunOptions options = small_run();
  data::DataSource source;
};

TEST_F(RunContextTest, NamesProgramKernelsHostsDataAndOptions) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world, 2);
  const auto context = run_context(options, topology, source);
  EXPECT_EQ(value_of(context, "version"), "0.1.0");
  EXPECT_EQ(value_of(context, "model"), "mlp:16");
  EXPECT_EQ(value_of(context, "configuration"), "seed = 42\n");
  EXPECT_NE(value_of(context, "kernels").find(nn::backend_names().front()), std::string::npos);
  EXPECT_EQ(value_of(context, "started").size(), std::string("2000-01-01T00:00:00Z").size());
  const std::string ranks = value_of(context, "ranks_per_host");
  EXPECT_EQ(std::ranges::count(ranks, ','),
            static_cast<std::ptrdiff_t>((world.size() + 1) / 2 - 1));
}

TEST_F(RunContextTest, TheIdentityTellsTracesModelsAndDataApart) {
  const auto trace = data::BatchTrace::from_rows({8, 16});
  nn::Layout layout;
  layout.add_parameter("fc.weight", {2, 3});
  const auto before = run_identity(options, source, trace, layout);
  const auto differs = [&](const auto& other, const std::string& name) {
    return value_of(other, name) != value_of(before, name);
  };
  const auto other_trace = data::BatchTrace::from_rows({8, 17});
  EXPECT_TRUE(differs(run_identity(options, source, other_trace, layout), "the trace"));
  nn::Layout other_layout;
  other_layout.add_parameter("fc.weight", {3, 2});
  EXPECT_TRUE(differs(run_identity(options, source, trace, other_layout), "the model's layout"));

  // The same samples but for their noise: same shapes, same number.
  options.data.spec += ",seed=2";
  const auto other = run_identity(options, data::open_data(options.data), trace, layout);
  EXPECT_TRUE(differs(other, "the training set"));
  EXPECT_TRUE(differs(other, "the test set"));
  EXPECT_FALSE(differs(other, "the trace"));
  EXPECT_FALSE(differs(other, "the kernels"));
  EXPECT_FALSE(differs(other, "the C library's mathematics"));
  options.augmentation = data::Augmentation::crop_flip;
  EXPECT_TRUE(differs(run_identity(options, source, trace, layout), "the augmentation"));
}

TEST_F(RunContextTest, ACheckpointKnowsItsTraceByTheBatchSizes) {
  const auto trace = data::BatchTrace::from_rows({8, 16});
  const Checkpoint checkpoint{{}, run_identity(options, source, trace, nn::Layout()), {}};
  EXPECT_TRUE(is_trace_of(checkpoint, trace));
  EXPECT_FALSE(is_trace_of(checkpoint, data::BatchTrace::from_rows({8, 17})));
  EXPECT_FALSE(is_trace_of({}, trace));
  EXPECT_FALSE(is_trace_of(checkpoint, data::BatchTrace::sparse({{0, 8}, {1, 16}})));
  EXPECT_FALSE(is_trace_of(
      checkpoint, data::BatchTrace::from_csv_text("batchsize,minibatch\n8,4\n16,4\n", "t.csv")));
}

TEST_F(RunContextTest, ACheckpointKnowsItsTestSetByTheSamples) {
  const auto trace = data::BatchTrace::from_rows({8});
  Checkpoint checkpoint{{}, run_identity(options, source, trace, nn::Layout()), {}};
  const auto same = evaluation_identity(options.backend, *source.test);
  EXPECT_EQ(has_same_test_set(checkpoint, same), true);
  EXPECT_EQ(has_same_test_set(checkpoint, evaluation_identity(options.backend, *source.train)),
            false);
  EXPECT_EQ(has_same_test_set({}, same), std::nullopt);
  EXPECT_EQ(value_of(same, "the kernels"), value_of(checkpoint.identity, "the kernels"));
  EXPECT_EQ(value_of(same, "the C library's mathematics"),
            value_of(checkpoint.identity, "the C library's mathematics"));
}

// Another byte, another label, or the same bytes of another shape or standardisation.
TEST_F(RunContextTest, TheIdentityKnowsEveryValueThatTrainingSees) {
  const auto digest = [this](data::InMemoryDataset::Values values, std::vector<std::int32_t> labels,
                             const data::Standardisation& by, data::SampleShape shape = {1, 1, 2}) {
    const data::InMemoryDataset samples("samples", shape, 3, std::move(values), std::move(labels),
                                        by);
    return value_of(evaluation_identity(options.backend, samples), "the test set");
  };
  const data::Standardisation by{.scale = 1, .mean = {3, 0}, .deviation = {1, 2}};
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4};
  const std::vector<std::uint8_t> other_bytes{1, 2, 3, 5};
  const std::string before = digest(bytes, {0, 2}, by);
  EXPECT_EQ(before.size(), 64U);
  EXPECT_EQ(digest(bytes, {0, 2}, by), before);
  EXPECT_NE(digest(other_bytes, {0, 2}, by), before);
  EXPECT_NE(digest(bytes, {1, 2}, by), before);
  EXPECT_NE(digest(bytes, {0, 2}, {.scale = 2, .mean = {3, 0}, .deviation = {1, 2}}), before);
  EXPECT_NE(digest(bytes, {0, 2}, {.scale = 1, .mean = {0, 3}, .deviation = {1, 2}}), before);
  EXPECT_NE(digest(bytes, {0, 2}, {.scale = 1, .mean = {3, 0}, .deviation = {2, 1}}), before);
  EXPECT_NE(digest(std::vector<float>{1, 2, 3, 4}, {0, 2}, by), before);
  const data::Standardisation of_one{.scale = 1, .mean = {0}, .deviation = {1}};
  EXPECT_NE(digest(bytes, {0, 2}, of_one, {1, 2, 1}), digest(bytes, {0, 2}, of_one, {2, 1, 1}));
}

// Samples of some other kind, which only deliver them.
TEST_F(RunContextTest, TheIdentityKnowsSamplesThatAreOnlyDelivered) {
  const auto digest = [this](std::size_t samples) {
    return value_of(evaluation_identity(options.backend, CountedSamples(samples)), "the test set");
  };
  EXPECT_EQ(digest(2049).size(), 64U);
  EXPECT_EQ(digest(2049), digest(2049));
  EXPECT_NE(digest(2049), digest(2048));
}

// What refuses a run of identity `now` from a checkpoint of identity `then`; empty if nothing does.
std::string refusal(const std::vector<ContextEntry>& then, const std::vector<ContextEntry>& now,
                    bool any_kernels) {
  try {
    require_same_run(then, now, any_kernels);
  } catch (const data::ContentError& error) {
    return error.what();
  }
  return {};
}

TEST(RequireSameRunTest, NamesTheDifferenceAndBothValues) {
  const std::vector<ContextEntry> then{{"the kernels", "eigen"}, {"the trace", "abc"}};
  EXPECT_EQ(refusal(then, then, false), "");
  EXPECT_EQ(refusal(then, {{"the kernels", "eigen"}, {"the trace", "abd"}}, true),
            "the trace differs from the checkpoint's: found abd, expected abc; a run goes on with "
            "what it began with");
  EXPECT_NE(refusal({}, then, false).find("expected (nothing)"), std::string::npos);
}

TEST(RequireSameRunTest, OtherKernelsAreAcceptedOnRequestOnly) {
  const std::vector<ContextEntry> then{{"the kernels", "eigen"}};
  const std::vector<ContextEntry> now{{"the kernels", "onednn"}};
  EXPECT_NE(refusal(then, now, false).find("--allow-other-kernels"), std::string::npos);
  EXPECT_EQ(refusal(then, now, true), "");
}

}  // namespace
}  // namespace rubato::runtime
