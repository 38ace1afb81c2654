#include "runtime/job_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/errors.hpp"

namespace rubato::runtime {
namespace {

TEST(JobRecord, ComesBackToTheBit) {
  JobRecord record;
  record.restarts = 3;
  record.done = {7, 2, 1};
  record.loaders = {{1, 2, 3, 4, 5, 6}, {}};
  record.accumulators.resize(2);
  record.accumulators[0].number = 4;
  record.accumulators[0].sums["a \"name\", \u00e9"] += 0.1;
  record.accumulators[0].sums["a \"name\", \u00e9"] += 1e100;
  record.accumulators[1].epoch = 7;
  record.accumulators[1].shown_outside.resize(1);
  record.accumulators[1].shown_in_epoch.resize(2);
  record.accumulators[1].shown_in_epoch[1]["b"] += 5;
  const JobRecord read = job_record(text_of(record));
  EXPECT_EQ(read.restarts, 3U);
  EXPECT_EQ(read.done, record.done);
  EXPECT_EQ(read.loaders, record.loaders);
  ASSERT_EQ(read.accumulators.size(), 2U);
  EXPECT_FALSE(read.accumulators[0].epoch);
  EXPECT_EQ(read.accumulators[0].number, 4U);
  EXPECT_EQ(read.accumulators[0].sums.at("a \"name\", \u00e9").parts(),
            (std::vector<double>{0.1, 1e100}));
  EXPECT_EQ(read.accumulators[1].epoch, 7U);
  EXPECT_EQ(read.accumulators[1].shown_outside.size(), 1U);
  EXPECT_EQ(read.accumulators[1].shown_in_epoch[1].at("b"), 5);
  EXPECT_EQ(text_of(read), text_of(record));
}

TEST(JobRecord, RefusesWhatItHasNotWritten) {
  const std::string good = text_of(JobRecord());
  for (const std::string& bad : {std::string(), good.substr(1), std::string("[]"),
                                 std::string("{}"), std::string(R"({"restarts":"x"})")}) {
    EXPECT_THROW(job_record(bad), data::ContentError) << bad;
  }
}

}  // namespace
}  // namespace rubato::runtime
