#include "runtime/job_options.hpp"

#include <gtest/gtest.h>

namespace rubato::runtime {
namespace {

TEST(JobOptions, BecomeThoseOfARun) {
  const RunOptions run = run_options({.directory = "runs/a",
                                      .seed = 7,
                                      .checkpoint_every = 5,
                                      .kept_checkpoints = 2,
                                      .max_seconds = 1.5,
                                      .accepts_other_kernels = true,
                                      .backend = "eigen",
                                      .isa = "avx2",
                                      .sum = optim::SumKind::fast,
                                      .assignment = data::Assignment::balanced});
  EXPECT_EQ(run.output, "runs/a");
  EXPECT_EQ(run.seed, 7U);
  EXPECT_EQ(run.output_mode, OutputMode::resume);
  EXPECT_EQ(run.checkpoint_every, 5U);
  EXPECT_EQ(run.kept_checkpoints, 2U);
  EXPECT_EQ(run.max_seconds, 1.5);
  EXPECT_TRUE(run.accepts_other_kernels);
  EXPECT_EQ(run.backend, "eigen");
  EXPECT_EQ(run.isa, "avx2");
  EXPECT_EQ(run.sum, optim::SumKind::fast);
  EXPECT_EQ(run.assignment, data::Assignment::balanced);
  EXPECT_EQ(run_options({.overwrites = true}).output_mode, OutputMode::overwrite);
}

}  // namespace
}  // namespace rubato::runtime
