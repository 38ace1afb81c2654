// Each action takes as many paths as it can use, and says so.
#include "app/checkpoint_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;

TEST(CheckpointOptions, EachActionTakesItsNumberOfPaths) {
  EXPECT_EQ(checkpoint_diff_table().parse({"a", "b"}).positionals().size(), 2U);
  EXPECT_THROW(checkpoint_diff_table().parse({"a"}), UsageError);
  EXPECT_THROW(checkpoint_diff_table().parse({"a", "b", "c"}), UsageError);
  EXPECT_THROW(checkpoint_list_table().parse({"a", "b"}), UsageError);
  EXPECT_THROW(checkpoint_show_table().parse(std::vector<std::string>{}), UsageError);
  EXPECT_EQ(checkpoint_verify_table().parse({"a", "b", "c"}).positionals().size(), 3U);
  EXPECT_EQ(checkpoint_digest_table().parse({"a", "b", "c"}).positionals().size(), 3U);
}

TEST(CheckpointOptions, HelpNamesTheCommand) {
  EXPECT_THAT(checkpoint_diff_table().help(), HasSubstr("rubato checkpoint diff A B"));
  EXPECT_THAT(checkpoint_show_table().help(), HasSubstr("rubato checkpoint show FILE|DIR"));
  EXPECT_EQ(checkpoint_show_table().parse({"a", "--format", "json"}).text("format"), "json");
}

}  // namespace
}  // namespace rubato::app
