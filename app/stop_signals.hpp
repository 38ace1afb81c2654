// The signals that stop what watches over jobs, taken one by one instead of interrupting it:
// SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP. What is one request and what stays ignored is as in
// runtime/stop_request.hpp.
#pragma once

#include <signal.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>

namespace rubato::app {

// A signal has come: what was to be done is broken off.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  int signal() const noexcept { return signal_; }
  const char* what() const noexcept override { return "interrupted by a signal"; }

 private:
  int signal_;
};

class StopSignals {
 public:
  StopSignals();  // blocks them; throws std::system_error
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();  // unblocks them

  int descriptor() const noexcept { return descriptor_; }  // readable while one waits

  // Takes what waits.
  void look();

  bool wants_stop() const noexcept { return first_ != 0; }
  bool wants_kill() const noexcept { return is_urgent_; }  // a second SIGINT or SIGTERM has come
  std::string first() const;                               // "SIGTERM"; empty: none has come

  void require_none();  // takes what waits; throws Interrupted

 private:
  int descriptor_;
  sigset_t former_{};
  int first_ = 0;
  std::optional<std::chrono::steady_clock::time_point> told_;  // when SIGINT or SIGTERM last came
  bool is_urgent_ = false;
};

}  // namespace rubato::app
