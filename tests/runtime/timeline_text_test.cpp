// The file as another program reads it.
#include "runtime/timeline_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace rubato::runtime {
namespace {

using Json = nlohmann::json;

TimelineFacts facts() { return {.hosts = {"alpha", "be\"ta"}, .ranks = 3, .clock_error = 0.25}; }

Json events_of(TimelineText text) { return Json::parse(std::move(text).finish())["traceEvents"]; }

std::vector<std::string> names_of(const Json& events, const std::string& kind) {
  std::vector<std::string> names;
  for (const Json& event : events) {
    if (event["ph"] == kind) names.push_back(event["name"]);
  }
  return names;
}

const std::vector<TimelineSpan> two_updates{
    {0, 1000, 0, Phase::starting},     {1000, 1500, 7, Phase::loading_data},
    {1500, 4000, 7, Phase::computing}, {4000, 4250, 7, Phase::summing},
    {4250, 5000, 7, Phase::updating},  {5000, 5001, 7, Phase::waiting},
    {5001, 6000, 7, Phase::reporting}, {6000, 7000, 7, Phase::evaluating},
    {7000, 7100, 7, Phase::waiting},   {7100, 8100, 8, Phase::loading_data},
    {8100, 8200, 8, Phase::summing}};

TEST(TimelineText, NamesHostsAndRanks) {
  TimelineText text(facts(), {});
  text.add_rank(2, 1, {});
  const Json events = events_of(std::move(text));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1], Json::parse(R"({"ph": "M", "name": "process_name", "pid": 2, "tid": 0,
                                       "args": {"name": "be\"ta"}})"));
  EXPECT_EQ(events[2], Json::parse(R"({"ph": "M", "name": "thread_name", "pid": 2, "tid": 3,
                                       "args": {"name": "rank 2"}})"));
}

TEST(TimelineText, PutsAnUpdateAroundItsPhases) {
  TimelineText text(facts(), {{7, {96, 3}}});
  text.add_rank(0, 0, two_updates);
  const Json events = events_of(std::move(text));
  EXPECT_EQ(names_of(events, "X"),
            (std::vector<std::string>{
                "starting", "update 7", "loading data", "computing", "summing over ranks",
                "updating weights", "waiting for other ranks", "reporting", "evaluating",
                "waiting for other ranks", "update 8", "loading data", "summing over ranks"}));
  EXPECT_EQ(events[4], Json::parse(R"({"ph": "X", "name": "update 7", "cat": "update", "pid": 1,
      "tid": 1, "ts": 1.0, "dur": 4.001,
      "args": {"update": 7, "batch_size": 96, "minibatches": 3}})"));
  EXPECT_EQ(events[6], Json::parse(R"({"ph": "X", "name": "computing", "cat": "phase", "pid": 1,
      "tid": 1, "ts": 1.5, "dur": 2.5,
      "args": {"update": 7, "batch_size": 96, "minibatches": 3}})"));
  EXPECT_EQ(events.back()["args"], Json::parse(R"({"update": 8})"));  // of unknown size
}

TEST(TimelineText, AnUpdateThatIsRunAgainIsOne) {
  TimelineText text(facts(), {});
  text.add_rank(0, 0,
                std::vector<TimelineSpan>{{0, 1, 1, Phase::loading_data},
                                          {1, 2, 1, Phase::summing},
                                          {2, 3, 1, Phase::loading_data},
                                          {3, 4, 1, Phase::summing}});
  const Json events = events_of(std::move(text));
  EXPECT_EQ(names_of(events, "X"),
            (std::vector<std::string>{"update 1", "loading data", "summing over ranks",
                                      "loading data", "summing over ranks"}));
  EXPECT_EQ(events[3]["dur"], 0.004);
}

TEST(TimelineText, TimesBeforeTheBeginningAreNegative) {
  TimelineText text(facts(), {});
  text.add_rank(0, 0, std::vector<TimelineSpan>{{-1234, -250, 0, Phase::starting}});
  const Json event = events_of(std::move(text)).back();
  EXPECT_EQ(event["ts"], -1.234);
  EXPECT_EQ(event["dur"], 0.984);
}

TEST(TimelineText, TheCheckpointWriterHasARowOfItsOwn) {
  TimelineText none(facts(), {});
  none.add_checkpoints({});
  EXPECT_EQ(events_of(std::move(none)).size(), 2U);
  TimelineText text(facts(), {});
  text.add_checkpoints(std::vector<TimelineCheckpoint>{{5, 1000, 2000, 4000}});
  const Json events = events_of(std::move(text));
  EXPECT_EQ(names_of(events, "X"),
            (std::vector<std::string>{"checkpoint 5", "encoding", "writing"}));
  EXPECT_EQ(events[2]["args"]["name"], "checkpoint writer");
  EXPECT_EQ(events[2]["tid"], 4);  // after the ranks'
  EXPECT_EQ(events[3]["dur"], 3.0);
  EXPECT_EQ(events[5]["ts"], 2.0);
}

TEST(TimelineText, SumsOverTheNetworkHaveARowBesideTheirRank) {
  TimelineText text(facts(), {{7, {96, 3}}});
  text.add_transfers(1, 0, {});
  text.add_transfers(2, 1, std::vector<TimelineTransfer>{{2000, 5000, 7}, {6000, 6500, 8}});
  const Json events = events_of(std::move(text));
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[2], Json::parse(R"({"ph": "M", "name": "thread_name", "pid": 2, "tid": 7,
                                       "args": {"name": "network of rank 2"}})"));
  EXPECT_EQ(events[3], Json::parse(R"({"ph": "X", "name": "sum over hosts", "cat": "network",
      "pid": 2, "tid": 7, "ts": 2.0, "dur": 3.0,
      "args": {"update": 7, "batch_size": 96, "minibatches": 3}})"));
  EXPECT_EQ(events[4]["dur"], 0.5);
}

TEST(TimelineText, SaysWhatItHolds) {
  const Json whole = Json::parse(TimelineText(facts(), {}).finish())["otherData"];
  EXPECT_EQ(whole["contents"], "the whole run");
  EXPECT_EQ(whole["ranks"], 3);
  EXPECT_EQ(whole["clock_error_seconds"], 0.25);
  TimelineFacts part = facts();
  part.is_complete = false;
  part.first_update = 12;
  part.capacity = 100;
  EXPECT_EQ(Json::parse(TimelineText(part, {}).finish())["otherData"]["contents"],
            "the last phases of a longer run, from update 12 on: 100 phases of each rank are kept");
}

}  // namespace
}  // namespace rubato::runtime
