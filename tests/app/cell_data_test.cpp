#include "app/cell_data.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "app/run_from_options.hpp"
#include "app/train_options.hpp"

namespace rubato::app {
namespace {

Options training_on(const std::string& data, const std::string& rate = "0.1") {
  return train_table().parse(
      std::vector<std::string>{"--data", data, "--batch-size", "32", "--lr", rate});
}

std::string told() {
  const char* name = std::getenv(data_image_variable);
  return name == nullptr ? "" : name;
}

TEST(CellData, TellsTheTrainingsThatFollowWhereTheirDataAre) {
  {
    CellData data;
    data.provide(training_on("digits"));
    const auto run = run_from(training_on("digits"));
    EXPECT_EQ(run.data_image, told());
    const auto found = data::open_image(run.data_image, run.data);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->train->size(), 1438U);
  }
  EXPECT_EQ(told(), "");
  EXPECT_EQ(run_from(training_on("digits")).data_image, "");
}

TEST(CellData, LoadsThemAgainOnlyIfTheyAreOthers) {
  CellData data;
  data.provide(training_on("digits", "0.1"));
  const auto first = told();
  data.provide(training_on("digits", "0.2"));
  EXPECT_EQ(told(), first);
  data.provide(training_on("synthetic:samples=40"));
  EXPECT_NE(told(), first);
  EXPECT_FALSE(data::open_image(first, {.spec = "digits"})) << "one image at a time";
  EXPECT_TRUE(data::open_image(told(), {.spec = "synthetic:samples=40"}));
}

TEST(CellData, IsSilentOfDataThatCannotBeLoaded) {
  CellData data;
  data.provide(training_on("digits"));
  data.provide(training_on("csv:nowhere.csv"));
  EXPECT_EQ(told(), "");
}

}  // namespace
}  // namespace rubato::app
