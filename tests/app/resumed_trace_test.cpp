#include "app/resumed_trace.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "data/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

class ResumedTrace : public testing::Test {
 protected:
  // The sentence; empty: none. The names in it without the directory.
  std::string refusal(const std::string& given, const std::string& recorded) {
    const auto put = [this](const char* name, const std::string& rows) {
      const auto file = directory_.path() / name;
      std::ofstream(file) << "batchsize\n" << rows;
      return file;
    };
    try {
      require_same_trace(put("now.csv", given), put("then.csv", recorded));
    } catch (const data::ContentError& error) {
      std::string text = error.what();
      const std::string folder = directory_.path().string() + "/";
      for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
        text.erase(at, folder.size());
      }
      return text;
    }
    return {};
  }

  TemporaryDirectory directory_;
};

constexpr const char* begin = "the trace differs from the checkpoint's: ";
constexpr const char* end = "; a run goes on with what it began with";

TEST_F(ResumedTrace, MayBeWrittenOtherwise) {
  EXPECT_EQ(refusal("8\n# a comment\n 16\n", "8\n16\n"), "");
}

TEST_F(ResumedTrace, IsComparedWithItsMinibatchesAndUpdates) {
  const auto file = [this](const char* name, const std::string& text) {
    std::ofstream(directory_.path() / name) << text;
    return directory_.path() / name;
  };
  const std::string header = "update,batchsize,minibatch\n0,8,4\n";
  const auto refused = [&](const std::string& row) -> std::string {
    try {
      require_same_trace(file("now.csv", header + row), file("then.csv", header + "9,8,2\n"));
    } catch (const data::ContentError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused("9,8,2\n"), "");
  EXPECT_NE(refused("7,8,2\n").find("batch 8 in minibatches of 2 from update 7 on"),
            std::string::npos);
  EXPECT_NE(refused("9,8,4\n").find("batch 8 in minibatches of 4 from update 9 on"),
            std::string::npos);
}

TEST_F(ResumedTrace, IsNotJudgedByADamagedCopy) { EXPECT_EQ(refusal("8\n16\n", "8\n1x\n"), ""); }

TEST_F(ResumedTrace, IsRefusedByTheFirstRowThatDiffers) {
  EXPECT_EQ(refusal("8\n# a comment\n17\n9\n", "8\n16\n8\n"),
            begin + std::string("now.csv:4 (row 1): found batch 17 in now.csv, expected batch 16") +
                " as in then.csv" + end);
}

TEST_F(ResumedTrace, IsRefusedIfItEndsSoonerOrLater) {
  EXPECT_EQ(refusal("8\n", "8\n16\n"),
            begin +
                std::string("then.csv:3 (row 1): found no such row in now.csv, expected batch") +
                " 16 as in then.csv" + end);
  EXPECT_EQ(refusal("8\n16\n", "8\n"),
            begin + std::string("now.csv:3 (row 1): found batch 16 in now.csv, expected no such") +
                " row as in then.csv" + end);
}

}  // namespace
}  // namespace rubato::app
