#include "app/study_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"
#include "app/job_options.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

StudyPlan plan(const Words& words) { return study_plan(study_table().parse(words)); }

TEST(StudyOptions, HaveDefaults) {
  const auto made = plan({"s.ini"});
  EXPECT_EQ(made.file, "s.ini");
  EXPECT_THAT(made.launcher, ElementsAre("mpirun"));
  EXPECT_EQ(made.ranks, cores_here());
  EXPECT_FALSE(made.is_dry_run);
}

TEST(StudyOptions, AreTaken) {
  const auto made = plan({"--ranks", "3", "s.ini", "--dry-run", "--mpirun", "mpirun -H a"});
  EXPECT_EQ(made.ranks, 3U);
  EXPECT_TRUE(made.is_dry_run);
  EXPECT_THAT(made.launcher, ElementsAre("mpirun", "-H", "a"));
}

TEST(StudyOptions, NeedAFileAndRoom) {
  EXPECT_THROW(plan({}), UsageError);
  EXPECT_THROW(plan({"a.ini", "b.ini"}), UsageError);
  EXPECT_THROW(plan({"a.ini", "--ranks", "70000"}), UsageError);
}

}  // namespace
}  // namespace rubato::app
