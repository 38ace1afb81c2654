#include "app/launch_events.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "runtime/errors.hpp"
#include "temporary_file.hpp"

namespace rubato::app {
namespace {

std::vector<nlohmann::json> json_lines_of(const std::string& file) {
  std::vector<nlohmann::json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(LaunchEvents, ArePutBehindThoseOfEarlierSupervisors) {
  const TemporaryFile place;
  const std::string directory = place.path() + ".run/deep";
  std::ostringstream people;
  for (const std::uint64_t update : {3U, 4U}) {
    LaunchEvents events(directory, people);
    events.add({.name = "failure",
                .ranks = 1,
                .update = update,
                .capacity = 9,
                .reason = "killed by signal 9",
                .exit_code = 137,
                .delay_seconds = 0.5});
  }
  const auto lines = json_lines_of(directory + "/events.jsonl");
  std::filesystem::remove_all(place.path() + ".run");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["update"], 3);
  EXPECT_EQ(lines[1]["update"], 4);
  EXPECT_EQ(lines[0]["event"], "failure");
  EXPECT_EQ(lines[0]["ranks"], 1);
  EXPECT_EQ(lines[0]["capacity"], 9);
  EXPECT_EQ(lines[0]["exit_code"], 137);
  EXPECT_EQ(lines[0]["delay_seconds"], 0.5);
  EXPECT_EQ(lines[0]["time"].get<std::string>().size(), std::string("2000-01-01T00:00:00Z").size());
  EXPECT_EQ(people.str(),
            "rubato launch: failure: 1 rank, update 3, killed by signal 9\n"
            "rubato launch: failure: 1 rank, update 4, killed by signal 9\n");
}

TEST(LaunchEvents, LeaveOutWhatThereIsNot) {
  const TemporaryFile place;
  const std::string directory = place.path() + ".run";
  std::ostringstream people;
  LaunchEvents(directory, people).add({.name = "pause", .update = 2});
  const auto line = json_lines_of(directory + "/events.jsonl").at(0);
  std::filesystem::remove_all(directory);
  EXPECT_FALSE(line.contains("reason") || line.contains("exit_code"));
  EXPECT_EQ(people.str(), "rubato launch: pause: update 2\n");
}

TEST(LaunchEvents, NeedADirectory) {
  const TemporaryFile file;
  std::ostringstream people;
  EXPECT_THROW(LaunchEvents(file.path(), people), runtime::OutputError);
}

TEST(LaunchEvents, GoOnWithoutTheFileAndSaySoOnce) {
  const TemporaryFile place;
  const std::string directory = place.path() + ".run";
  std::filesystem::create_directory(directory);
  std::filesystem::create_symlink("/dev/full", directory + "/events.jsonl");
  std::ostringstream people;
  {
    LaunchEvents events(directory, people);
    events.add({.name = "start"});
    events.add({.name = "stop"});
  }
  std::filesystem::remove_all(directory);
  const auto text = people.str();
  EXPECT_NE(text.find("warning: cannot write to " + directory), std::string::npos);
  EXPECT_EQ(text.find("warning"), text.rfind("warning"));
}

}  // namespace
}  // namespace rubato::app
