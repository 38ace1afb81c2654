// state.json says what it was told, to people as well, and a damaged one is refused by name.
#include "runtime/state_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "data/errors.hpp"
#include "runtime/errors.hpp"
#include "tests/temporary_directory.hpp"

namespace rubato::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

RunStatus example() {
  RunStatus status;
  status.state = RunState::preempted;
  status.update = 41;
  status.epoch = 3;
  status.samples = 1'000'003;
  status.total_updates = 90;
  status.ranks = 4;
  status.hosts = {"alpha", "beta"};
  status.pid = 4711;
  status.started = "2000-01-01T00:00:00Z";
  status.written = "2000-01-01T00:10:00Z";
  status.reason = "SIGUSR1";
  status.exit_code = 75;
  status.resume_command = "rubato train --resume run";
  return status;
}

class StateFileTest : public testing::Test {
 protected:
  nlohmann::json written() const {
    std::ifstream stream(file);
    return nlohmann::json::parse(stream);
  }
  std::string refusal_with(const std::string& text) const {
    std::ofstream(file) << text;
    try {
      read_status(directory.path());
    } catch (const data::ContentError& error) {
      return error.what();
    }
    return {};
  }
  std::string refusal_without(const std::string& field) const {
    write_status(directory.path(), example());
    auto json = written();
    json.erase(field);
    return refusal_with(json.dump());
  }
  TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "state.json";
};

TEST_F(StateFileTest, IsPlainJson) {
  write_status(directory.path(), example());
  const auto json = written();
  EXPECT_EQ(json["state"], "preempted");
  EXPECT_EQ(json["update"], 41);
  EXPECT_EQ(json["samples"], 1'000'003);
  EXPECT_EQ(json["total_updates"], 90);
  EXPECT_EQ(json["hosts"][1], "beta");
  EXPECT_EQ(json["exit_code"], 75);
  EXPECT_EQ(json["resume_command"], "rubato train --resume run");
}

TEST_F(StateFileTest, IsReadBack) {
  write_status(directory.path(), example());
  EXPECT_EQ(read_status(directory.path()), example());
  for (const RunState state : {RunState::running, RunState::finished, RunState::failed}) {
    RunStatus status = example();
    status.state = state;
    status.total_updates.reset();
    status.exit_code.reset();
    write_status(directory.path(), status);
    EXPECT_EQ(read_status(directory.path()), status) << name_of(state);
    EXPECT_FALSE(written().contains("exit_code"));
  }
}

TEST_F(StateFileTest, TheTimeOfWritingIsFilledIn) {
  RunStatus status = example();
  status.written.clear();
  write_status(directory.path(), status);
  EXPECT_EQ(read_status(directory.path()).written.size(),
            std::string("2000-01-01T00:00:00Z").size());
}

TEST_F(StateFileTest, EachMissingFieldIsNamed) {
  for (const char* const field : {"state", "update", "epoch", "samples", "ranks", "hosts", "pid",
                                  "started", "written", "reason", "resume_command"}) {
    EXPECT_THAT(refusal_without(field),
                AllOf(HasSubstr(file.string()),
                      HasSubstr(std::string("field ") + field + ": found nothing, expected")));
  }
}

TEST_F(StateFileTest, WrongContentIsRefused) {
  EXPECT_THAT(refusal_with(""), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refusal_with("[1]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(refusal_with(R"({"state": "asleep"})"), HasSubstr(R"(found "asleep")"));
  EXPECT_THAT(refusal_with(R"({"state": "running", "update": -1})"), HasSubstr("found -1"));
  EXPECT_THAT(refusal_with(std::string((1U << 20U) + 1, ' ')), HasSubstr("more than 1048576"));
}

TEST_F(StateFileTest, MissingFilesAndDirectoriesAreTold) {
  EXPECT_THROW(read_status(directory.path()), data::MissingFileError);
  EXPECT_THROW(write_status("/nonexistent", example()), WriteError);
}

}  // namespace
}  // namespace rubato::runtime
