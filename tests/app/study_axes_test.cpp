#include "app/study_axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/train_options.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Words = std::vector<std::string>;

StudyFile study_of(const std::vector<StudyEntry>& grid) {
  StudyFile study{.path = "s.ini", .name = "s", .directory = "s"};
  study.grid = {.name = "grid", .line = 1, .entries = grid};
  return study;
}

std::vector<StudyAxis> axes(const StudyFile& study) { return axes_of(study, train_table()); }

Words texts(const std::string& list, OptionKind kind) {
  Words texts;
  for (const auto& value : values_of({.key = "x", .value = list}, kind)) {
    texts.push_back(value.value);
  }
  return texts;
}

Words labels(const StudyAxis& axis) {
  Words labels;
  for (const auto& value : axis.values) labels.push_back(value.label);
  return labels;
}

TEST(StudyAxes, HaveValuesBetweenBlanksAndCommas) {
  EXPECT_THAT(texts("64, 128 ,256", OptionKind::integer), ElementsAre("64", "128", "256"));
  EXPECT_THAT(texts("sgd lars", OptionKind::choice), ElementsAre("sgd", "lars"));
  EXPECT_THAT(texts("mlp:64,32, linear mnist", OptionKind::text),
              ElementsAre("mlp:64,32", "linear", "mnist"));
  EXPECT_THAT(texts("linear , mnist", OptionKind::text), ElementsAre("linear", "mnist"));
  EXPECT_THAT(texts("  ", OptionKind::number), ElementsAre());
}

TEST(StudyAxes, KnowTheColumnOfEachValue) {
  const auto values =
      values_of({.key = "lr", .value = "0.1, 0.2", .line = 3, .column = 6}, OptionKind::number);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].column, 6U);
  EXPECT_EQ(values[1].column, 11U);
  EXPECT_EQ(values[1].line, 3U);
}

TEST(StudyAxes, KeepTheFilesOrderWithVariantsAndSeedsLast) {
  auto study = study_of({{.key = "seed", .value = "1 2", .line = 2},
                         {.key = "batch-size", .value = "64", .line = 3},
                         {.key = "model", .value = "mlp:9,9 linear", .line = 4}});
  study.variants = {{.name = "plain", .line = 5},
                    {.name = "with lars",
                     .line = 6,
                     .entries = {{.key = "optimizer", .value = "lars", .line = 7}}}};
  const auto found = axes(study);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].name, "batch");
  EXPECT_EQ(found[1].name, "model");
  EXPECT_THAT(labels(found[1]), ElementsAre("mlp_9_9", "linear")) << "fit for a directory's name";
  EXPECT_EQ(found[2].name, "variant");
  EXPECT_THAT(labels(found[2]), ElementsAre("plain", "with_lars"));
  EXPECT_EQ(found[2].values[0].entries.size(), 0U);
  EXPECT_EQ(found[2].values[1].entries[0].value, "lars");
  EXPECT_EQ(found[3].name, "seed");
}

TEST(StudyAxes, CallTracesByTheirFiles) {
  const auto found = axes(study_of({{.key = "trace", .value = "a/ramp-up.csv,down.csv"}}));
  EXPECT_EQ(found[0].name, "trace");
  EXPECT_THAT(labels(found[0]), ElementsAre("ramp-up", "down"));
  EXPECT_EQ(found[0].values[0].entries[0].value, "a/ramp-up.csv");
}

TEST(StudyAxes, HaveEachValueOnce) {
  EXPECT_THAT([] { axes(study_of({{.key = "batch-size", .value = "64 32 64", .line = 4}})); },
              ThrowsMessage<data::ContentError>("s.ini:4: batch: 64 stands twice in the list; cells"
                                                " need names of their own"));
  EXPECT_THAT([] { axes(study_of({{.key = "trace", .value = "a/x.csv b/x.csv", .line = 4}})); },
              ThrowsMessage<data::ContentError>(HasSubstr("x stands twice")));
}

TEST(StudyAxes, TakeNumbersAsNumbersAndNamesAsNames) {
  EXPECT_THAT([] { axes(study_of({{.key = "lr", .value = "0.1 1e-1", .line = 4}})); },
              ThrowsMessage<data::ContentError>(HasSubstr("s.ini:4: lr: 1e-1 is 0.1; cells ")));
  EXPECT_EQ(axes(study_of({{.key = "trace", .value = "1.csv 01.csv"}}))[0].values.size(), 2U);
  auto study = study_of({{.key = "lr", .value = "0.1"}});
  study.variants = {{.name = "1", .line = 5}, {.name = "01", .line = 6}};
  EXPECT_EQ(axes(study)[1].values.size(), 2U);
}

TEST(StudyAxes, HaveAValueBeforeEachComma) {
  EXPECT_THAT([] { axes(study_of({{.key = "rule", .value = ",", .line = 4}})); },
              ThrowsMessage<data::ContentError>(
                  "s.ini:4: rule = \",\": a comma without a value before it"));
}

}  // namespace
}  // namespace rubato::app
