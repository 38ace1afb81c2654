// What the file says; what it means is tested in study_grid_test.cpp.
#include "app/study_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/train_options.hpp"
#include "data/errors.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

const std::string whole =
    "# How far can the batch grow?\n"
    "[study]\n"
    "name = batches\n"
    "\n"
    "[common]\n"
    "data = digits     # the built-in ones\n"
    "  lr =  0.05 * k\r\n"
    "[grid]\n"
    "batch-size = 64, 128\n"
    "[variant plain]\n"
    "optimizer = sgd\n"
    "[variant with lars]\n"
    "optimizer=lars\n"
    "trust = 0.02\n";

StudyFile read(const std::string& text) {
  const TemporaryFile file(text);
  return read_study(file.path(), train_table());
}

// Behind the file's name: ":3: unknown ..."
std::string complaint(const std::string& text) {
  const TemporaryFile file(text);
  try {
    read_study(file.path(), train_table());
  } catch (const data::ContentError& error) {
    const std::string sentence = error.what();
    EXPECT_EQ(sentence.find(file.path()), 0U);
    return sentence.substr(file.path().size());
  }
  return "nothing";
}

std::string in_whole(const std::string& line, const std::string& place = "[grid]\n") {
  std::string text = whole;
  return text.insert(text.find(place) + place.size(), line + "\n");
}

TEST(StudyFile, HasSectionsOfLines) {
  const auto study = read(whole);
  EXPECT_EQ(study.name, "batches");
  EXPECT_EQ(study.directory, "batches") << "the name, unless told";
  EXPECT_FALSE(study.base_batch);
  ASSERT_THAT(study.common.entries, SizeIs(2));
  EXPECT_EQ(study.common.entries[0].value, "digits");
  EXPECT_EQ(study.common.entries[1].key, "lr");
  EXPECT_EQ(study.common.entries[1].value, "0.05 * k");
  EXPECT_EQ(study.common.entries[1].line, 7U);
  EXPECT_EQ(study.common.entries[1].column, 9U);
  EXPECT_EQ(study.grid.line, 8U);
  ASSERT_THAT(study.grid.entries, SizeIs(1));
  ASSERT_THAT(study.variants, SizeIs(2));
  EXPECT_EQ(study.variants[1].name, "with lars");
  EXPECT_EQ(study.variants[1].entries[0].column, 11U);
}

TEST(StudyFile, MaySayWhereItGoesAndWhatItIsMeasuredAgainst) {
  const auto study = read("[study]\nname=a b\nout = runs/x\nbase-batch = 32\n[grid]\nseed = 1\n");
  EXPECT_EQ(study.directory, "runs/x");
  ASSERT_TRUE(study.base_batch);
  EXPECT_EQ(study.base_batch->value, "32");
}

TEST(StudyFile, NamesWhatItDoesNotKnowAndTheNearest) {
  EXPECT_EQ(complaint(in_whole("momentun = 0.9")),
            ":9: unknown key \"momentun\" in [grid]; did you mean \"momentum\"?");
  EXPECT_EQ(complaint(in_whole("nam = x", "[study]\n")),
            ":3: unknown key \"nam\" in [study]; did you mean \"name\"?");
  EXPECT_THAT(complaint(in_whole("learning = 1")), HasSubstr("; see `rubato train --help`"));
  EXPECT_EQ(complaint(whole + "[commn]\n"),
            ":15: unknown section \"commn\"; did you mean [common]?");
  EXPECT_THAT(complaint(whole + "[variant]\n"), HasSubstr(":15: unknown section \"variant\""));
}

TEST(StudyFile, TakesNoOptionThatTheStudyGives) {
  for (const char* key : {"out", "resume", "config", "adaptive", "max-seconds", "format"}) {
    EXPECT_THAT(complaint(in_whole(std::string(key) + " = 1")),
                HasSubstr(":9: " + std::string(key) + ": leave it out"));
  }
}

TEST(StudyFile, SaysEverythingOnce) {
  EXPECT_EQ(complaint(in_whole("lr = 1, 2")),
            ":9: lr stands in line 7 already, in [common]; give it once");
  EXPECT_THAT(complaint(whole + "trust = 1\n"), HasSubstr(":15: trust stands in line 14 already"));
  EXPECT_THAT(complaint(whole + "batch-size = 1\n"), HasSubstr("in line 9 already, in [grid]"));
  EXPECT_EQ(complaint(whole + "[grid]\n"),
            ":15: the section [grid] begins in line 8 already; write it once");
}

TEST(StudyFile, HasANameAndAGrid) {
  EXPECT_EQ(complaint("[grid]\nseed = 1\n"),
            ":2: the name is missing: a line name = NAME below [study]");
  EXPECT_THAT(complaint(""), HasSubstr(":1: the name is missing"));
  EXPECT_THAT(complaint("[study]\nname = x\n"), HasSubstr(":2: the grid is empty"));
  EXPECT_THAT(complaint("[study]\nname = x\n[grid]\n# seed = 1\n[common]\n"),
              HasSubstr(":3: the grid is empty"));
  EXPECT_EQ(complaint(in_whole("rule =")), ":9: rule: the list of values is empty");
  EXPECT_EQ(complaint(in_whole("model =  # none", "[common]\n")), ":6: model: a value is missing");
}

TEST(StudyFile, ConsistsOfLines) {
  EXPECT_EQ(complaint(in_whole("just words")), ":9: \"just words\": expected a line NAME = VALUE");
  EXPECT_THAT(complaint("name = x\n"), HasSubstr(":1: expected a section such as [study]"));
  EXPECT_EQ(complaint(in_whole("rule = li\x1bnear")),
            ":9: rule: found \"li\\x1bnear\", expected a value without control characters");
  EXPECT_THROW(read_study("/nowhere/study.ini", train_table()), data::MissingFileError);
}

}  // namespace
}  // namespace rubato::app
