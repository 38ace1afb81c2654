// Up to an update, exactly; and only of a file in which each update stands once.
#include "runtime/metrics_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

const std::string context = R"({"type":"context","version":"1"})";
const std::string resumed = R"({"type":"context","resumed_from":2,"version":"1"})";
const std::string eval = R"({"type":"eval","update":2})";
const std::string epoch = R"({"type":"epoch","epoch":0})";
const std::string end = R"({"type":"end"})";

std::string update(std::uint64_t number) {
  return R"({"type":"update","update":)" + std::to_string(number) + R"(,"loss":0.5})";
}

class MetricsHistoryTest : public testing::Test {
 protected:
  void write(const std::vector<std::string>& lines, const std::string& torn = "") const {
    std::ofstream stream(file);
    for (const std::string& line : lines) stream << line << '\n';
    stream << torn;
  }
  // The number of lines that are kept, or the problem.
  std::string kept(std::uint64_t number, std::uint64_t of_epoch = 0) const {
    const MetricsHistory history = metrics_history(file, {.update = number, .epoch = of_epoch});
    if (!history.problem.empty()) return history.problem;
    std::ifstream stream(file);
    std::string text(history.bytes, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    EXPECT_TRUE(text.ends_with('\n'));
    return std::to_string(std::count(text.begin(), text.end(), '\n'));
  }
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "metrics.jsonl";
};

TEST_F(MetricsHistoryTest, EndsWithTheUpdateAndWhatFollowsFromIt) {
  write({context, update(1), update(2), epoch, eval, update(3), end});
  EXPECT_EQ(kept(0), "1");
  EXPECT_EQ(kept(1), "2");
  EXPECT_EQ(kept(2), "5");
  EXPECT_EQ(kept(3), "6");
}

TEST_F(MetricsHistoryTest, ATornLineIsNoLine) {
  write({context, update(1)}, update(2));
  EXPECT_EQ(kept(1), "2");
  EXPECT_EQ(kept(2), "ends after update 1");
}

TEST_F(MetricsHistoryTest, ALaterContextIsCutOffAndAnEarlierOneStays) {
  write({context, update(1), update(2), resumed, update(3), end});
  EXPECT_EQ(kept(2), "3");
  EXPECT_EQ(kept(3), "5");
}

// On other ranks no batch fitted into the epoch any more, so that it was over. Killed before or
// after the checkpoint that says so.
TEST_F(MetricsHistoryTest, ALaterStartStaysIfItCompletedTheEpochBeforeTheCheckpoints) {
  const std::string decision = R"({"type":"decision","update":2})";
  write({context, update(1), update(2), resumed, decision, epoch, eval, resumed, decision});
  EXPECT_EQ(kept(2, 0), "3");
  EXPECT_EQ(kept(2, 1), "7");
  EXPECT_EQ(kept(1, 1), "2");
  write({resumed, decision, epoch, eval, update(3)});
  EXPECT_EQ(kept(2, 0), "1");
  EXPECT_EQ(kept(2, 1), "4");
  write({context, update(1), update(2), resumed, R"({"type":"epoch","epoch":"0"})", eval});
  EXPECT_EQ(kept(2, 1), "3");
}

TEST_F(MetricsHistoryTest, AFileMayBeginWhereItsContextSays) {
  write({resumed, update(3), update(4)});
  EXPECT_EQ(kept(1), "begins after update 2");
  EXPECT_EQ(kept(2), "1");
  EXPECT_EQ(kept(3), "2");
}

TEST_F(MetricsHistoryTest, WhatIsMissingOrStandsTwiceIsNamed) {
  EXPECT_EQ(kept(0), "is missing");
  write({});
  EXPECT_EQ(kept(0), "does not begin with the context of a run");
  write({update(1)});
  EXPECT_EQ(kept(1), "does not begin with the context of a run");
  write({R"({"type":"context","version":)"});
  EXPECT_EQ(kept(0), "does not begin with the context of a run");
  write({context, update(1), update(3)});
  EXPECT_EQ(kept(1), "2");
  EXPECT_EQ(kept(3), "has update 3 after update 1");
  write({context, update(1), update(1), update(2)});
  EXPECT_EQ(kept(2), "has update 1 after update 1");
  write({context, update(1), R"({"type":"update","update":2,"loss":})"});
  EXPECT_EQ(kept(2), "has a damaged line for update 2");
  write({context, R"({"type":"update","update":1x})", update(2)});
  EXPECT_EQ(kept(2), "has update 2 after update 0");
}

TEST_F(MetricsHistoryTest, WhatWasConsideredAfterAnUpdateStaysWithIt) {
  const std::string decision = R"({"type":"decision","update":2})";
  write({context, update(1), update(2), decision, eval, update(3)});
  const auto whole = context + update(1) + update(2) + decision + eval;
  EXPECT_EQ(metrics_history(file, {.update = 2}).bytes, whole.size() + 5);
}

TEST_F(MetricsHistoryTest, EachCutOfAFileIsALineBoundaryOrNothing) {
  std::string text;
  for (const std::string& line : {context, update(1), eval, update(2), epoch}) text += line + "\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    std::ofstream(file) << text.substr(0, size);
    const std::size_t whole = (context + update(1)).size() + 2;
    EXPECT_EQ(metrics_history(file, {.update = 1}).problem.empty(), size >= whole) << size;
    EXPECT_EQ(metrics_history(file, {.update = 2}).problem.empty(),
              size >= text.size() - epoch.size() - 1)
        << size;
  }
}

TEST_F(MetricsHistoryTest, ALineOfAnyLengthIsBounded) {
  std::ofstream(file) << context << '\n'
                      << std::string(3U << 20U, 'x') << '\n'
                      << update(1) << '\n';
  EXPECT_EQ(kept(1), "ends after update 0");
}

}  // namespace
}  // namespace rubato::runtime
