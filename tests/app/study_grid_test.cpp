#include "app/study_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "study_texts.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const std::vector<StudyCell>& cells) {
  std::vector<std::string> names;
  for (const auto& cell : cells) names.push_back(cell.name);
  return names;
}

TEST(StudyGrid, HasEveryCombinationTheLastListFastest) {
  const auto cells = cells_of_text("[grid]\nbatch-size = 64 128\nrule = root\nseed = 1 2\n");
  EXPECT_THAT(names(cells),
              ElementsAre("batch=64,rule=root,seed=1", "batch=64,rule=root,seed=2",
                          "batch=128,rule=root,seed=1", "batch=128,rule=root,seed=2"));
}

TEST(StudyGrid, HasVariantsAlone) {
  const auto cells = cells_of_text(
      "batch-size = 64\n[variant plain]\n[variant warm]\nwarmup = 1\nwarmup-multiplier = 2\n");
  EXPECT_THAT(names(cells), ElementsAre("variant=plain", "variant=warm"));
  EXPECT_EQ(cells[1].option("warmup"), "1");
}

TEST(StudyGrid, GivesEveryCellASeedOfItsOwn) {
  const auto cells = cells_of_text("[grid]\nbatch-size = 64 128\nseed = 1 2\n");
  std::set<std::string> seeds;
  for (const auto& cell : cells) seeds.insert(cell.option("seed"));
  EXPECT_EQ(seeds.size(), 4U);
  const auto more = cells_of_text("[grid]\nbatch-size = 32 64 128\nseed = 1 2 3\n");
  EXPECT_EQ(more[3].name, cells[0].name);
  EXPECT_EQ(more[3].option("seed"), cells[0].option("seed")) << "also in a larger study";
}

TEST(StudyGrid, HasOtherSeedsWhereTheFileSaysAnother) {
  const std::string grid = "[grid]\nbatch-size = 64\n";
  const auto without = cells_of_text(grid)[0].option("seed");
  EXPECT_EQ(cells_of_text("seed = 42\n" + grid)[0].option("seed"), without) << "the default";
  EXPECT_NE(cells_of_text("seed = 43\n" + grid)[0].option("seed"), without);
}

TEST(StudyGrid, HasAnEnd) {
  std::string list;
  for (int i = 1; i <= 101; ++i) list += " " + std::to_string(i);
  EXPECT_THAT(complaint_about("[grid]\nbatch-size =" + list + "\nseed =" + list + "\n"),
              HasSubstr(":6: the grid has more than 10000 cells"));
}

}  // namespace
}  // namespace rubato::app
