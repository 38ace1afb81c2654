// What is on disk is what the run holds, whatever was there.
#include "runtime/decisions_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

class DecisionsFileTest : public testing::Test {
 protected:
  std::string content() const {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "decisions.csv";
};

TEST_F(DecisionsFileTest, HoldsTheTextAndWhatIsAppended) {
  DecisionsFile decisions(file, "header\nfirst\n");
  EXPECT_EQ(content(), "header\nfirst\n");
  decisions.append("second");
  EXPECT_EQ(content(), "header\nfirst\nsecond\n");
  decisions.sync();
  EXPECT_FALSE(decisions.take_failure());
  decisions.finish();
}

// Later decisions than the checkpoint's, a torn line, another run's file, nothing.
TEST_F(DecisionsFileTest, ReplacesWhatTheRunDoesNotHold) {
  for (const char* before : {"header\nfirst\nsecond\n", "header\nfir", "header\nfirst", "", "x\n",
                             "header\nother\nthird\n", "header\nfirst\n"}) {
    std::ofstream(file) << before;
    DecisionsFile decisions(file, "header\nfirst\n");
    decisions.append("third");
    EXPECT_EQ(content(), "header\nfirst\nthird\n") << before;
  }
}

}  // namespace
}  // namespace rubato::runtime
