// The list's columns.
#include "app/checkpoint_list.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/runtime/example_state.hpp"

namespace rubato::app {
namespace {

TEST(CheckpointList, SizesTimesAndAgesHaveFewLetters) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(1000), "1.0 kB");
  EXPECT_EQ(size_text(999'949), "999.9 kB");
  EXPECT_EQ(size_text(999'950), "1.0 MB");
  EXPECT_EQ(size_text(12'345'678'901), "12.3 GB");
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00Z");
  EXPECT_EQ(time_text(951'827'696), "2000-02-29 12:34:56Z");
  EXPECT_EQ(age_text(-5), "0 s");
  EXPECT_EQ(age_text(59), "59 s");
  EXPECT_EQ(age_text(3599), "59 min");
  EXPECT_EQ(age_text(3600), "1 h");
  EXPECT_EQ(age_text(48 * 3600 - 1), "47 h");
  EXPECT_EQ(age_text(48 * 3600), "2 d");
}

std::vector<CheckpointFile> example_files() {
  return {{"run/checkpoints/ckpt-12.h5", 2500, 1000, true, "", runtime::example_state()},
          {"run/checkpoints/ckpt-8.h5", 1200, 900, true,
           "run/checkpoints/ckpt-8.h5: does not match its checksum", std::nullopt},
          {"run/checkpoints/ckpt-4.h5", 1200, 800, false, "its checksum file is missing",
           std::nullopt}};
}

TEST(CheckpointList, IsATableWithTheReasonOfWhatIsDamaged) {
  std::ostringstream text;
  list_as_table(text, example_files(), 1060);
  EXPECT_EQ(text.str(),
            "    update   epoch       samples       size               written     age  state\n"
            "        12       2          1234     2.5 kB  1970-01-01 00:16:40Z   1 min  good\n"
            "         -       -             -     1.2 kB  1970-01-01 00:15:00Z   2 min  ckpt-8.h5: "
            "damaged: does not match its checksum\n"
            "         -       -             -     1.2 kB  1970-01-01 00:13:20Z   4 min  ckpt-4.h5: "
            "no checksum\n");
}

TEST(CheckpointList, AsJsonSaysOfEachWhetherItIsGood) {
  std::ostringstream text;
  list_as_json(text, example_files());
  EXPECT_NE(text.str().find("\"good\": true,\n  \"has_checksum\": true,\n  \"update\": 12"),
            std::string::npos)
      << text.str();
  EXPECT_NE(text.str().find("\"good\": false"), std::string::npos);
}

}  // namespace
}  // namespace rubato::app
