// What the parts of a job say in a program that has neither a session nor a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "runtime/accumulator.hpp"
#include "runtime/adaptive_data_loader.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/job.hpp"
#include "runtime/job_epochs.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(JobWithoutSession, EachPartSaysWhatToWriteBeforeIt) {
  const auto says = [](const std::string& part) {
    return ThrowsMessage<std::logic_error>(AllOf(StartsWith(part + ": there is no collectives::"),
                                                 HasSubstr("collectives::run_session(argc, argv"),
                                                 HasSubstr("runtime::Job job(world")));
  };
  const optim::LearningRateSchedule schedule{optim::ScheduleOptions()};
  EXPECT_THAT([&] { AdaptiveDataParallel(nullptr, {}, schedule); }, says("AdaptiveDataParallel"));
  EXPECT_THAT([] { AdaptiveDataLoader(nullptr, {}); }, says("AdaptiveDataLoader"));
  EXPECT_THAT([] { Accumulator(); }, says("Accumulator"));
  EXPECT_THAT([] { remaining_epochs_until(3); }, says("remaining_epochs_until"));
}

}  // namespace
}  // namespace rubato::runtime
