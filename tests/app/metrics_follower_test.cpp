// A start cuts metrics.jsonl behind its checkpoint and goes on there; what stood behind it is not
// this start's.
#include "app/metrics_follower.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "tests/temporary_directory.hpp"

namespace rubato::app {
namespace {

namespace fs = std::filesystem;

std::string update(int number) {
  return R"({"type":"update","update":)" + std::to_string(number) + "}\n";
}

class MetricsFollowerTest : public testing::Test {
 protected:
  // The clock of a file system ticks every few milliseconds: the time of a later write is set.
  void write(const std::string& text, std::ios::openmode mode) {
    std::ofstream(file_, mode) << text;
    fs::last_write_time(file_, fs::file_time_type::clock::now() + std::chrono::seconds(++writes_));
  }
  void append(const std::string& text) { write(text, std::ios::app); }

  TemporaryDirectory directory_;
  fs::path file_ = directory_.path() / "metrics.jsonl";
  int writes_ = 0;
};

const std::string first_start = "{\"type\":\"context\"}\n" + update(1) + update(2) + update(3);
const std::string context_after_2 = "{\"type\":\"context\",\"resumed_from\":2}\n";

TEST_F(MetricsFollowerTest, FollowsARunFromItsBeginning) {
  MetricsFollower follower(directory_.path(), 0);
  follower.look();
  EXPECT_EQ(follower.update(), 0U);
  EXPECT_FALSE(follower.resumed_from());
  append("{\"type\":\"context\"}\n" + update(1) + R"({"type":"upd)");
  follower.look();
  EXPECT_EQ(follower.update(), 1U);
  EXPECT_EQ(follower.resumed_from(), 0U);
  append("ate\",\"update\":2}\n{\"type\":\"eval\",\"update\":9}\n");
  follower.look();
  EXPECT_EQ(follower.update(), 2U);
}

TEST_F(MetricsFollowerTest, TakesNothingOfTheStartBefore) {
  append(first_start);
  MetricsFollower follower(directory_.path(), 2);
  follower.look();
  EXPECT_EQ(follower.update(), 2U) << "update 3 was done by the start before, and is lost";
  EXPECT_FALSE(follower.resumed_from());
  write("{\"type\":\"context\"}\n" + update(1) + update(2) + context_after_2, std::ios::trunc);
  follower.look();
  EXPECT_EQ(follower.update(), 2U);
  EXPECT_EQ(follower.resumed_from(), 2U);
  append(update(3) + update(4));
  follower.look();
  EXPECT_EQ(follower.update(), 4U);
}

TEST_F(MetricsFollowerTest, SeesWhenAStartGoesOnFromElsewhere) {
  append(first_start);
  MetricsFollower follower(directory_.path(), 3);
  append("{\"type\":\"context\",\"resumed_from\":1}\n");
  follower.look();
  EXPECT_EQ(follower.resumed_from(), 1U);
}

}  // namespace
}  // namespace rubato::app
