#include "app/report_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

TEST(ReportOptions, AreDirectoriesAndAFile) {
  const auto options = report_table().parse({"a", "b"});
  EXPECT_THAT(options.positionals(), testing::ElementsAre("a", "b"));
  EXPECT_EQ(options.text("output"), "report.html");
  EXPECT_EQ(report_table().parse({"a", "--output", "x.html"}).text("output"), "x.html");
}

TEST(ReportOptions, NeedADirectory) {
  EXPECT_THAT([] { report_table().parse(std::vector<std::string>{}); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("DIR... is missing")));
}

}  // namespace
}  // namespace rubato::app
