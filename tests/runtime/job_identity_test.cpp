// A job goes on as what it was begun as.
#include "runtime/job_identity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/trainer.hpp"
#include "tests/runtime/small_job.hpp"
#include "tests/runtime/small_runs.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;

class JobIdentityTest : public SmallJobTest {};

TEST_F(JobIdentityTest, AnotherProgramIsRefused) {
  run_on(world.size(), in_directory(), [](Job& job) {
    SmallJob parts;
    job.checkpoint();
  });
  const LoaderOptions loader{.batch_size = 64, .minibatch = 8, .shuffle = true};
  LoaderOptions other_loader = loader;
  other_loader.minibatch = 16;
  JobOptions other_seed = in_directory();
  other_seed.seed = 43;
  const auto begins_with = [&](const JobOptions& options, const LoaderOptions& its_loader,
                               const ModelOptions& model, const std::string& network) {
    std::string sentence;
    try {
      Job job(world, options);
      SmallJob parts(its_loader, model, network);
      job.begin();
    } catch (const collectives::AgreedFailure& failure) {
      EXPECT_EQ(failure.failure().exit_code, exit_content);
      sentence = failure.what();
    }
    return sentence;
  };
  EXPECT_EQ(begins_with(in_directory(), loader, {}, "mlp:16"), "");
  EXPECT_THAT(begins_with(in_directory(), loader, {}, "mlp:17"), HasSubstr("layout differs"));
  EXPECT_THAT(begins_with(in_directory(), loader, {.rule = "linear"}, "mlp:16"),
              HasSubstr("the model differs from the checkpoint's: found rule linear"));
  EXPECT_THAT(begins_with(in_directory(), other_loader, {}, "mlp:16"), HasSubstr("trace differs"));
  EXPECT_THAT(begins_with(other_seed, loader, {}, "mlp:16"), HasSubstr("seed differs"));
  EXPECT_THAT(refusal(
                  in_directory(), [](Job& job) { job.begin(); }, exit_content),
              HasSubstr("the model differs from the checkpoint's: found none"));
}

TEST_F(JobIdentityTest, ARunIsNoJob) {
  RunOptions options = small_run();
  options.output = directory / "job";
  Trainer(world, options, collectives::plain_failure).run({});
  EXPECT_THAT(refusal(
                  in_directory(), [](Job&) {}, exit_content),
              HasSubstr("the checkpoint of a run, not of a job"));
}

}  // namespace
}  // namespace rubato::runtime
