// Ranges and norms of tensors, and the page that shows a checkpoint.
#include "app/checkpoint_show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/runtime/example_state.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

TEST(CheckpointShow, RangesAndNormsAreOfWhatIsFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorRange range = range_of(std::vector<float>{nan, 3, -4, infinity, 0});
  EXPECT_EQ(range.least, -4);
  EXPECT_EQ(range.largest, 3);
  EXPECT_EQ(range.norm, 5);
  EXPECT_EQ(range.not_finite, 2U);
  const TensorRange positive = range_of(std::vector<float>{2, 1});
  EXPECT_EQ(positive.least, 1);
  EXPECT_EQ(range_of(std::vector<float>{}).norm, 0);
  const float large = std::numeric_limits<float>::max();
  EXPECT_GT(range_of(std::vector<float>{large, large}).norm, large);  // no overflow
}

TEST(CheckpointShow, ShapesAreInBrackets) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text({64, 3, 3}), "[64, 3, 3]");
}

NamedCheckpoint example() {
  return {"a.h5",
          2500,
          {runtime::example_state(),
           {{"data", "digits"}},
           {{"hosts", "a\x1b[2J"}, {"options", "one = 1\n\ntwo = 2\n"}}},
          {}};
}

TEST(CheckpointShow, IsAPageForPeople) {
  std::ostringstream out;
  show_as_text(out, example());
  const std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("a.h5: 2.5 kB, digest " +
                              runtime::state_digest(runtime::example_state()) + "\n"));
  EXPECT_THAT(text, HasSubstr("updates made 12, samples used 1234, epoch 2, row 13 of the trace"));
  EXPECT_THAT(text, HasSubstr("fc.weight  [2, 3]                          1          6.5"));
  EXPECT_THAT(text, HasSubstr("  2^-3\n"));
  EXPECT_THAT(text, HasSubstr("momentum/fc.bias"));
  EXPECT_THAT(text, HasSubstr("  data  digits\n"));
  EXPECT_THAT(text, HasSubstr("  hosts    a\\x1b[2J\n"));
  EXPECT_THAT(text, HasSubstr("  options  one = 1\n\n           two = 2\n"));
}

TEST(CheckpointShow, AsJsonHoldsTheSame) {
  std::ostringstream out;
  NamedCheckpoint named = example();
  named.checkpoint.context.push_back({"path", "\xff"});  // no text in any encoding
  show_as_json(out, named);
  const auto document = nlohmann::json::parse(out.str());
  EXPECT_EQ(document["cursor"]["samples"], 1234);
  EXPECT_EQ(document["audit"]["epoch_digest"], 0xabcdef);
  EXPECT_EQ(document["elastic"]["progress"], 17.25);
  EXPECT_EQ(document["identity"]["data"], "digits");
  EXPECT_EQ(document["context"]["hosts"], "a\x1b[2J");
  const auto& weight = document["model"][0];
  EXPECT_EQ(weight["name"], "fc.weight");
  EXPECT_EQ(weight["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(weight["largest"], 6.5);
  EXPECT_EQ(weight["exact_exponent"], -3);
  EXPECT_FALSE(document["optimizer"][0].contains("exact_exponent"));
}

}  // namespace
}  // namespace rubato::app
