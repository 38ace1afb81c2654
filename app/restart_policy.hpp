// Whether a job that has ended is started again, and when: a pure rule, without a clock.
//
//   0                  the run is finished
//   75                 stopped on request (or the code that the training was told to end with then)
//   64, 65, 66, 73     would end the same way again: given up, with that code
//   70                 given up if it comes twice in a row at the same update
//   anything else      a failure, started again: at once, then after 1, 2, 4, ... times the
//                      back-off, at most 60 s; given up after `most` failures without progress
//
// Progress is an update that no job of this run had reached before: it starts the count again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/failure.hpp"

namespace rubato::app {

struct RestartDecision {
  enum class Action { finish, stop, restart, give_up };
  Action action = Action::restart;
  double delay_seconds = 0;  // of a restart
  std::string reason;        // half a sentence: "killed by signal 9"
};

class RestartPolicy {
 public:
  RestartPolicy(std::uint64_t most_failures, double backoff_seconds,
                int stopped_code = exit_stopped)
      : most_failures_(most_failures),
        backoff_seconds_(backoff_seconds),
        stopped_code_(stopped_code) {}

  // The job ended with this exit code, after the run had reached this update.
  RestartDecision after(int exit_code, std::uint64_t update);

 private:
  void count(std::uint64_t update);

  std::uint64_t most_failures_;
  double backoff_seconds_;
  int stopped_code_;
  std::uint64_t failures_ = 0;  // since the last progress
  std::uint64_t farthest_update_ = 0;
  std::optional<std::uint64_t> internal_error_at_;  // update of the failure before, if that was 70
};

// "killed by signal 9" for 137, "exit code 74" for the rest.
std::string describe_exit(int exit_code);

}  // namespace rubato::app
