// What a supervisor did, for people (a line each) and for programs (DIR/events.jsonl, one JSON
// object a line, appended to over all supervisors of a run):
//
//   start, continue, restart   a job begins: the first, after a pause or a rescale, after a failure
//   rescale, pause             the capacity has changed: the job is asked to stop
//   kill                       the job has not stopped in time
//   failure                    a job has ended as none should
//   stop, finish               the supervisor ends: on request (or given up), or with the run
//
// Fields: time (UTC), seconds (since the supervisor's start), event, ranks, update, capacity,
// reason. ranks are those of the job that begins or ends; of a rescale, those that come.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

namespace rubato::app {

struct LaunchEvent {
  std::string name;
  std::uint64_t ranks = 0;
  std::uint64_t update = 0;
  std::uint64_t capacity = 0;
  std::string reason = {};                   // empty: none
  std::optional<int> exit_code = {};         // of the job that ended
  std::optional<double> delay_seconds = {};  // until the restart
};

class LaunchEvents {
 public:
  // Creates the directory if need be. Throws runtime::OutputError.
  LaunchEvents(const std::filesystem::path& directory, std::ostream& people);

  // A file that cannot be written to is no reason to end a training: it is said, once.
  void add(const LaunchEvent& event);
  void say(const std::string& sentence);  // to people only

 private:
  using Clock = std::chrono::steady_clock;
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::ostream& people_;
  Clock::time_point begin_ = Clock::now();
  bool is_written_ = true;  // the file, so far
};

}  // namespace rubato::app
