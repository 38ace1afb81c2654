// Checkpoints of every format that was ever in use are read for ever, to the same state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/checkpoint.hpp"

namespace rubato::runtime {
namespace {

using testing::ElementsAre;

// Format 2, as the first version wrote it.
TEST(CheckpointGolden, Format2IsReadAsItWasWritten) {
  const Checkpoint checkpoint =
      read_checkpoint(std::filesystem::path(RUBATO_SOURCE_DIR) / "tests/golden/checkpoint-2.h5");
  EXPECT_EQ(state_digest(checkpoint.state),
            "eec9b49a1582e03e8ad84cf7241f25f7ce26d35fd3f82dc0dfb671b35da7a8c0");
  const TrainingState& state = checkpoint.state;
  EXPECT_EQ(state.seed, 7U);
  EXPECT_EQ(state.rule, "adascale");
  EXPECT_EQ(state.cursor, (data::Cursor{12, 13, 2, 96, 5, 1234}));
  EXPECT_EQ(state.audit, (SampleAudit{2, 300, 0xabcdef, 0x123456789a}));
  ASSERT_EQ(state.model.size(), 2U);
  EXPECT_EQ(state.model[1].name, "fc.weight");
  EXPECT_THAT(state.model[1].shape, ElementsAre(2, 3));
  EXPECT_THAT(state.model[1].values, ElementsAre(1, 2, 3, 4, 5, 6.5F));
  ASSERT_EQ(state.optimizer.size(), 2U);
  EXPECT_EQ(state.optimizer[0].name, "momentum/fc.bias");
  EXPECT_THAT(state.optimizer[0].values, ElementsAre(9, -9));
  ASSERT_EQ(state.scalars.size(), 2U);
  EXPECT_EQ(state.scalars[1].name, "progress");
  EXPECT_EQ(state.scalars[1].value, 17.25);
  ASSERT_EQ(state.exact_exponents.size(), 2U);
  EXPECT_EQ(state.exact_exponents[1].exponent, -3);
  EXPECT_THAT(checkpoint.identity, ElementsAre(ContextEntry{"data", "digits"},
                                               ContextEntry{"model", "fc.weight [2,3] at 0"}));
  EXPECT_THAT(checkpoint.context,
              ElementsAre(ContextEntry{"configuration", "data = digits\nseed = 7\n"},
                          ContextEntry{"hosts", "a, b"}));
}

}  // namespace
}  // namespace rubato::runtime
