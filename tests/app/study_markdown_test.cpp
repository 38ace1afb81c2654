#include "app/study_markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study_courses.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using State = CellState;

std::string page(const std::vector<StudyCell>& cells, const std::vector<CellCourse>& courses) {
  return results_as_markdown(results_of("batches", cells, courses));
}

TEST(StudyMarkdown, HasATableForEachGroup) {
  const auto text =
      page({made_cell("sgd", "32", "1"), made_cell("sgd", "64", "1"), made_cell("lars", "32", "1"),
            made_cell("lars", "64", "1")},
           {made_course(State::finished, {0.25, 0.75}), made_course(State::finished, {0.5}),
            made_course(State::finished, {0.75, 0.875}), made_course(State::diverged, {0.125})});
  EXPECT_EQ(text,
            "# batches\n"
            "\n"
            "Base line: 75.00 %, the best of optimizer=sgd, batch 32.\n"
            "\n"
            "## optimizer=sgd\n"
            "\n"
            "| Batch | lr | top-1 accuracy, best | closest to the base line | Time to it |"
            " Time to train |\n"
            "|:---:|:---:|:---:|:---:|:---:|:---:|\n"
            "| 32 | 0.1 | 75.00 %<br>(base line) | 75.00 % | 20.0 s | 20.0 s |\n"
            "| 64 | 0.1 | 50.00 % | 50.00 % | 10.0 s | 10.0 s |\n"
            "\n"
            "## optimizer=lars\n"
            "\n"
            "| Batch | lr | top-1 accuracy, best | closest to the base line | Time to it |"
            " Time to train |\n"
            "|:---:|:---:|:---:|:---:|:---:|:---:|\n"
            "| 32 | 0.1 | 87.50 % | 75.00 % | 10.0 s | 20.0 s |\n"
            "| 64 | 0.1 | 12.50 % (nan) | 12.50 % (nan) | - | - |\n");
}

TEST(StudyMarkdown, HasTheMeanOfSeveralSeedsAndTheirRange) {
  const auto text =
      page({made_cell("sgd", "32", "1"), made_cell("sgd", "32", "2"), made_cell("sgd", "32", "3")},
           {made_course(State::finished, {0.25}), made_course(State::finished, {0.5, 0.75}),
            made_course(State::diverged, {})});
  EXPECT_THAT(text, HasSubstr("| 32 | 0.1 | 50.00 % (25.00 to 75.00) (1 of 3 nan)<br>(base line) |"
                              " 37.50 % (25.00 to 50.00) (1 of 3 nan) | 10.0 s | 15.0 s |\n"));
}

TEST(StudyMarkdown, SaysWhatItHasNot) {
  const auto text = page({made_cell("sgd", "32", "1"), made_cell("sgd", "64", "1")},
                         {made_course(State::diverged, {}), made_course(State::finished, {})});
  EXPECT_THAT(text, HasSubstr("| 32 | 0.1 | (nan) | (nan) | - | - |\n"));
  EXPECT_THAT(text, HasSubstr("| 64 | 0.1 | - | - | - | 0.0 s |\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Base line")));
}

TEST(StudyMarkdown, MayHaveTracesAndOneGroup) {
  auto cell = made_cell("sgd", "ramp", "1");
  cell.group.clear();
  cell.options = {{"trace", "a/ramp.csv"}};
  const auto text = page({cell}, {made_course(State::finished, {0.5})});
  EXPECT_THAT(text,
              HasSubstr("Base line: 50.00 %, the best of all, trace ramp.\n\n| Trace | lr |"));
  EXPECT_THAT(text, HasSubstr("\n| ramp | - | 50.00 %<br>(base line) |"));
}

}  // namespace
}  // namespace rubato::app
