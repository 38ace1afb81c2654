// Timelines of ranks that beat in a way that is known, on pretended hosts.
#include "runtime/run_timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collectives/clock_offset.hpp"
#include "collectives/session.hpp"
#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class RunTimelineTest : public testing::Test {
 protected:
  RunTimelineTest() {
    if (world.rank() == 0) directory_ = std::make_unique<TemporaryDirectory>();
    file = world.broadcast(directory_ ? directory_->path().string() : "", 0) + "/timeline.json";
  }
  ~RunTimelineTest() override { world.barrier(); }

  // Every rank goes through so many updates, rank r with r substeps in each.
  void run(RunTimeline& timeline, std::uint64_t updates) {
    for (std::uint64_t update = 1; update <= updates; ++update) {
      heartbeat.beat(update, Phase::loading_data);
      for (std::size_t substep = 0; substep < world.rank(); ++substep) {
        heartbeat.beat(update, Phase::computing);
        heartbeat.beat(update, Phase::accumulating);
      }
      heartbeat.beat(update, Phase::summing);
      topology.all().barrier();
      const std::int64_t now = collectives::steady_nanoseconds();
      const bool has_network = world.rank() % 2 == 1;
      heartbeat.summed({now, has_network ? now - 2000 : 0, has_network ? now + 1000 : 0});
      heartbeat.beat(update, Phase::updating);
      heartbeat.beat(update, Phase::reporting);
      StepReport report;
      report.update = update;
      report.batch_size = 10 * update;
      if (world.rank() == 0) timeline.update(report);
    }
    timeline.write(collectives::plain_failure);
  }

  Json read() const { return Json::parse(std::ifstream(file)); }

  // The events of each row that are of that kind.
  std::map<std::string, std::vector<Json>> events_of_rows(const std::string& category) const {
    std::map<std::pair<int, int>, std::string> names;
    std::map<std::string, std::vector<Json>> rows;
    const Json document = read();
    for (const Json& event : document["traceEvents"]) {
      const std::pair<int, int> row{event["pid"], event["tid"]};
      if (event["name"] == "thread_name") names[row] = event["args"]["name"];
      if (event["ph"] == "X" && event["cat"] == category) rows[names.at(row)].push_back(event);
    }
    return rows;
  }

  const collectives::Communicator world = collectives::Communicator::world();
  const collectives::Topology topology{world, 2};
  Heartbeat heartbeat{topology};
  std::string file;

 private:
  std::unique_ptr<TemporaryDirectory> directory_;  // of rank 0
};

TEST_F(RunTimelineTest, HasARowForEveryRankInItsHost) {
  RunTimeline timeline(topology, heartbeat, file, collectives::plain_failure);
  run(timeline, 3);
  if (world.rank() != 0) return;
  const auto rows = events_of_rows("update");
  ASSERT_EQ(rows.size(), world.size());
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    const auto& updates = rows.at("rank " + std::to_string(rank));
    ASSERT_EQ(updates.size(), 3U);
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(updates[i]["name"], "update " + std::to_string(i + 1));
      EXPECT_EQ(updates[i]["args"]["batch_size"], 10 * (i + 1));
      EXPECT_EQ(updates[i]["pid"], 1 + rank / 2);
    }
  }
  EXPECT_EQ(read()["otherData"]["contents"], "the whole run");
}

TEST_F(RunTimelineTest, TellsWaitingSummingAndTheNetworkApart) {
  RunTimeline timeline(topology, heartbeat, file, collectives::plain_failure);
  run(timeline, 2);
  if (world.rank() != 0) return;
  const auto phases = events_of_rows("phase");
  const auto networks = events_of_rows("network");
  EXPECT_EQ(networks.size(), world.size() / 2);
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    std::vector<Json> sums;
    const auto& row = phases.at("rank " + std::to_string(rank));
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (row[i]["name"] != "summing over ranks") continue;
      EXPECT_EQ(row[i - 1]["name"], "waiting for other ranks");
      EXPECT_EQ(row[i - 1]["args"], row[i]["args"]);
      sums.push_back(row[i]);
    }
    ASSERT_EQ(sums.size(), 2U);
    if (rank % 2 == 0) continue;
    const auto& network = networks.at("network of rank " + std::to_string(rank));
    ASSERT_EQ(network.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(network[i]["args"]["update"], i + 1);
      EXPECT_EQ(network[i]["pid"], 1 + rank / 2);
      // It began 2 us before the sum and took 3, by a clock that may seem to drift by a per cent
      // against rank 0's, measured twice within a few milliseconds.
      const double before = sums[i]["ts"].get<double>() - network[i]["ts"].get<double>();
      ASSERT_GT(before, 0);
      EXPECT_NEAR(network[i]["dur"].get<double>() / before, 1.5, 0.01);
    }
  }
}

TEST(OnRank0, AClockThatDriftsIsTakenToDriftEvenly) {
  const ClockMark first{1000, {.nanoseconds = 300}};
  EXPECT_EQ(on_rank_0(1500, first, {5000, {.nanoseconds = 300}}), 1200);
  const ClockMark last{5000, {.nanoseconds = -100}};
  EXPECT_EQ(on_rank_0(1000, first, last), 700);
  EXPECT_EQ(on_rank_0(3000, first, last), 2900);
  EXPECT_EQ(on_rank_0(5000, first, last), 5100);
  EXPECT_EQ(on_rank_0(1000, first, first), 700);
}

// A clock that is 300 ahead at 1000, and 100 behind at 5000.
TEST(AlignedSpans, AreByTheClockOfRank0AndFollowEachOther) {
  const std::vector<TimelineEntry> entries{
      {1000, 1, Phase::loading_data}, {3000, 1, Phase::summing}, {4000, 2, Phase::computing}};
  const auto spans =
      aligned_spans(entries, {1000, {.nanoseconds = 300}}, {5000, {.nanoseconds = -100}});
  ASSERT_EQ(spans.size(), 3U);
  const std::vector<std::int64_t> times{700, 2900, 4000, 5100};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i].begin, times[i]);
    EXPECT_EQ(spans[i].end, times[i + 1]);
    EXPECT_EQ(spans[i].update, entries[i].update);
    EXPECT_EQ(spans[i].phase, entries[i].phase);
  }
}

TEST_F(RunTimelineTest, OfALongRunTheLastUpdatesThatAllRanksKept) {
  RunTimeline timeline(topology, heartbeat, file, collectives::plain_failure, 40);
  run(timeline, 30);
  if (world.rank() != 0) return;
  const auto rows = events_of_rows("update");
  // The rank with the most substeps has 5 + 2 phases an update: whole updates in 40 phases,
  // less the one that may be cut.
  const std::size_t kept = rows.at("rank 0").size();
  EXPECT_GE(kept, 40 / (5 + 2 * (world.size() - 1)) - 1);
  EXPECT_LE(kept, 40U / 5);
  for (const auto& [name, sums] : events_of_rows("network")) EXPECT_EQ(sums.size(), kept) << name;
  for (const auto& [name, updates] : rows) {
    ASSERT_EQ(updates.size(), kept) << name;
    EXPECT_EQ(updates.back()["name"], "update 30");
  }
  EXPECT_THAT(read()["otherData"]["contents"].get<std::string>(),
              HasSubstr("from update " + std::to_string(31 - kept) + " on: 40 phases"));
}

TEST_F(RunTimelineTest, CheckpointsLieWhereTheyWereWritten) {
  RunTimeline timeline(topology, heartbeat, file, collectives::plain_failure);
  timeline.checkpoint({.update = 2,
                       .encode_seconds = 0.5,
                       .write_seconds = 1.5,
                       .begin = std::chrono::steady_clock::now()});
  run(timeline, 1);
  if (world.rank() != 0) return;
  const Json document = read();
  for (const Json& event : document["traceEvents"]) {
    if (event["name"] != "checkpoint 2") continue;
    EXPECT_NEAR(event["dur"], 2e6, 1);
    EXPECT_GE(event["ts"], 0);
    EXPECT_LT(event["ts"], 60e6);
    return;
  }
  ADD_FAILURE() << "no checkpoint";
}

TEST_F(RunTimelineTest, AFileThatCannotBeWrittenIsRefusedOnAllRanks) {
  const auto refusal = [&](const std::string& name) {
    try {
      const RunTimeline timeline(topology, heartbeat, name, collectives::plain_failure);
    } catch (const collectives::AgreedFailure& failure) {
      return std::string(failure.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(refusal("/proc/timeline.json"), HasSubstr("the timeline cannot be written: "));
  EXPECT_THAT(refusal("/nonexistent/timeline.json"), HasSubstr("/nonexistent"));
  EXPECT_THAT(refusal("/tmp"), HasSubstr("the timeline cannot be written: /tmp is a directory"));
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("/dev/null is no ordinary file"));
  EXPECT_EQ(refusal(file), "nothing");
  world.barrier();
  EXPECT_FALSE(std::filesystem::exists(file));  // a trial leaves nothing
}

}  // namespace
}  // namespace rubato::runtime
