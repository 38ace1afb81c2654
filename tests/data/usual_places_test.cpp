// Where data sets are looked for.
#include "data/usual_places.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"
#include "thrown_message.hpp"

namespace rubato::data {
namespace {

TEST(UsualPlaces, BeginWithTheEnvironmentVariable) {
  setenv("RUBATO_DATA", "/sets", 1);
  setenv("HOME", "/home/someone", 1);
  const std::vector<std::filesystem::path> expected = {
      "/sets/mnist", "data/mnist", "/usr/share/datasets/mnist", "/home/someone/.cache/rubato/mnist",
      "/home/someone/data/mnist"};
  EXPECT_EQ(usual_places("mnist"), expected);
  unsetenv("RUBATO_DATA");
  EXPECT_EQ(usual_places("mnist").front(), "data/mnist");
}

TEST(UsualPlaces, FindPlainAndCompressedFiles) {
  const TemporaryDirectory directory;
  directory.write("a/train.gz", "");
  directory.write("b/train", "");
  const auto a = directory.path() / "a";
  const auto b = directory.path() / "b";
  EXPECT_EQ(find_directory({directory.path() / "none", a, b}, "train", ""), a);
  EXPECT_EQ(find_file(a, "train", ""), a / "train.gz");
  EXPECT_EQ(find_file(b, "train", ""), b / "train");
  EXPECT_FALSE(has_file(a, "test"));
  EXPECT_EQ(thrown_message<MissingFileError>([&] { find_file(a, "test", "do this"); }),
            (a / "test").string() + "[.gz]: not found; do this");
  EXPECT_EQ(thrown_message<MissingFileError>([&] {
              find_directory({a, b}, "test", "do this");
            }),
            "test: not found in " + a.string() + ", " + b.string() + "; do this");
}

}  // namespace
}  // namespace rubato::data
