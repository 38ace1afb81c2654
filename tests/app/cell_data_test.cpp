#include "app/cell_data.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "app/run_from_options.hpp"
#include "app/train_options.hpp"

namespace rubato::app {
namespace {

data::DataOptions training_on(const std::string& data, const std::string& rate = "0.1") {
  return data_options(train_table().parse(
      std::vector<std::string>{"--data", data, "--batch-size", "32", "--lr", rate}));
}

TEST(CellData, TellsTheTrainingsThatFollowWhereTheirDataAre) {
  {
    CellData data;
    data.provide(training_on("digits"));
    const auto found = data::open_image(provided_data_image(), training_on("digits", "0.2"));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->train->size(), 1438U);
  }
  EXPECT_EQ(provided_data_image(), "");
}

TEST(CellData, LoadsThemAgainOnlyIfTheyAreOthers) {
  CellData data;
  data.provide(training_on("digits", "0.1"));
  const auto first = provided_data_image();
  data.provide(training_on("digits", "0.2"));
  EXPECT_EQ(provided_data_image(), first);
  data.provide(training_on("synthetic:samples=40"));
  EXPECT_NE(provided_data_image(), first);
  EXPECT_FALSE(data::open_image(first, {.spec = "digits"})) << "one image at a time";
  EXPECT_TRUE(data::open_image(provided_data_image(), {.spec = "synthetic:samples=40"}));
}

TEST(CellData, TakesNothingBackThatItHasNotGiven) {
  CellData data;
  data.provide(training_on("digits"));
  const auto told = provided_data_image();
  { const CellData other; }
  EXPECT_EQ(provided_data_image(), told);
}

TEST(CellData, IsSilentOfDataThatCannotBeLoaded) {
  CellData data;
  data.provide(training_on("digits"));
  data.provide(training_on("csv:nowhere.csv"));
  EXPECT_EQ(provided_data_image(), "");
}

TEST(CellData, IsNotForProgramsOfAnotherBuild) {
  CellData data;
  data.provide(training_on("digits"));
  const std::string told = ::getenv("RUBATO_DATA_IMAGE");
  ASSERT_NE(told.find(provided_data_image()), std::string::npos);
  ::setenv("RUBATO_DATA_IMAGE", ("1" + told).c_str(), 1);
  EXPECT_EQ(provided_data_image(), "");
}

}  // namespace
}  // namespace rubato::app
