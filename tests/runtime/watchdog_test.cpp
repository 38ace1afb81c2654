// One rank stops moving while the others wait for it in a sum: one rank says so, once. Here nobody
// really stops; hanging_run_test.py stops processes and cuts hosts off.
#include "runtime/watchdog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "collectives/communicator.hpp"

namespace rubato::runtime {
namespace {

using namespace std::chrono_literals;
using testing::MatchesRegex;

// What a watchdog said.
struct Heard {
  std::mutex mutex;
  std::vector<std::string> warnings;
  std::vector<std::string> ends;
  std::vector<std::string> stragglers;
};

WatchdogOptions told_to(Heard& heard, double hang_timeout, double warning = 60) {
  const auto note = [&heard](std::vector<std::string>& list) {
    return [&heard, &list](const std::string& sentence) {
      const std::scoped_lock lock(heard.mutex);
      list.push_back(sentence);
    };
  };
  return {warning, hang_timeout, note(heard.warnings), note(heard.ends), note(heard.stragglers)};
}

// The non-empty sentences of all ranks.
std::vector<std::string> all_of(const collectives::Communicator& world,
                                const std::vector<std::string>& mine) {
  std::string joined;
  for (const std::string& sentence : mine) joined += sentence;
  std::vector<std::string> all = world.gather(joined);
  std::erase(all, "");
  return all;
}

class WatchdogTest : public testing::Test {
 protected:
  collectives::Communicator ranks = collectives::Communicator::world();
  collectives::Topology topology{ranks};
  Heartbeat heartbeat{topology};
  Heard heard;
  std::size_t last = ranks.size() - 1;
  bool is_last = ranks.rank() == last;
};

TEST_F(WatchdogTest, NamesTheRankThatOthersWaitFor) {
  heartbeat.beat(7, is_last ? Phase::computing : Phase::summing);
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 2.5));
    std::this_thread::sleep_for(3800ms);
  }
  ranks.barrier();
  const auto warnings = all_of(ranks, heard.warnings);
  ASSERT_EQ(warnings.size(), 1U);
  const std::string stuck = "rank " + std::to_string(last) + " on " + topology.hosts()[0] +
                            " has not moved for [1-4] s while computing \\(update 7\\)";
  EXPECT_THAT(warnings[0], MatchesRegex(stuck));
  const auto ends = all_of(ranks, heard.ends);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_THAT(ends[0], MatchesRegex(stuck + "; the run ends, because its hang timeout is 2.5 s"));
  EXPECT_EQ(heard.ends.size(), 1U);  // the silent ones end as well
}

TEST_F(WatchdogTest, ARunThatMovesIsLeftAlone) {
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 2));
    for (std::uint64_t update = 1; update <= 25; ++update) {
      heartbeat.beat(update, Phase::computing);
      std::this_thread::sleep_for(100ms);
    }
  }
  ranks.barrier();
  EXPECT_TRUE(heard.warnings.empty());
  EXPECT_TRUE(heard.ends.empty());
}

TEST_F(WatchdogTest, WaitingForARankThatMovesIsNoHang) {
  heartbeat.beat(3, is_last ? Phase::computing : Phase::summing);
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 2));
    for (int i = 0; i < 25; ++i) {
      if (is_last) heartbeat.beat(3, Phase::computing);
      std::this_thread::sleep_for(100ms);
    }
  }
  ranks.barrier();
  EXPECT_TRUE(heard.ends.empty());
}

TEST_F(WatchdogTest, StartingMayTakeLong) {
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 0.6, 0.3));
    std::this_thread::sleep_for(1500ms);
  }
  ranks.barrier();
  EXPECT_EQ(all_of(ranks, heard.warnings).size(), 0U);
  EXPECT_TRUE(heard.ends.empty());
}

TEST_F(WatchdogTest, WithoutAHangTimeoutItOnlyWarns) {
  heartbeat.beat(1, Phase::computing);
  ranks.barrier();
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 0, 0.5));
    std::this_thread::sleep_for(2s);
  }
  ranks.barrier();
  EXPECT_EQ(all_of(ranks, heard.warnings).size(), 1U);
  EXPECT_TRUE(heard.ends.empty());
}

TEST_F(WatchdogTest, EachStandstillIsToldOnce) {
  heartbeat.beat(0, Phase::computing);
  ranks.barrier();
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 0, 0.5));
    for (std::uint64_t update = 1; update <= 2; ++update) {
      std::this_thread::sleep_for(1500ms);
      ranks.barrier();
      heartbeat.beat(update, Phase::computing);
    }
    std::this_thread::sleep_for(300ms);
  }
  EXPECT_EQ(heard.warnings.size(), ranks.rank() == 0 ? 2U : 0U);
}

TEST_F(WatchdogTest, NamesARankThatComputesSlowly) {
  {
    const Watchdog watchdog(heartbeat, topology, told_to(heard, 60));
    for (std::uint64_t update = 1; update <= 40; ++update) {
      ranks.barrier();
      heartbeat.beat(update, Phase::computing);
      std::this_thread::sleep_for(is_last ? 50ms : 5ms);
      heartbeat.beat(update, Phase::summing);
    }
    std::this_thread::sleep_for(300ms);
  }
  ranks.barrier();
  const auto found = all_of(ranks, heard.stragglers);
  ASSERT_EQ(found.size(), ranks.size() > 1 && !topology.is_oversubscribed() ? 1U : 0U);
  if (found.empty()) return;
  EXPECT_THAT(found[0], MatchesRegex("rank " + std::to_string(last) + " on " + topology.hosts()[0] +
                                     " computes [0-9.]+ times as long as the others there "
                                     "\\(median, last [2-4][0-9] updates\\)"));
  EXPECT_TRUE(heard.warnings.empty());
}

// Twenty that waited for their next look would take five seconds.
TEST_F(WatchdogTest, EndsAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) const Watchdog watchdog(heartbeat, topology, told_to(heard, 1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 2500ms);
}

}  // namespace
}  // namespace rubato::runtime
