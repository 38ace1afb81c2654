// The signals that stop a supervisor, taken one by one instead of interrupting it: SIGTERM, SIGINT,
// SIGUSR1, SIGUSR2, SIGHUP.
#pragma once

#include <signal.h>

#include <optional>
#include <string>

namespace rubato::app {

class StopSignals {
 public:
  StopSignals();  // blocks them; throws std::system_error
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();  // unblocks them

  int descriptor() const noexcept { return descriptor_; }  // readable while one waits

  // Takes what waits.
  void look();

  bool wants_stop() const noexcept { return !first_.empty(); }
  bool wants_kill() const noexcept { return is_urgent_; }  // a second SIGINT or SIGTERM has come
  const std::string& first() const noexcept { return first_; }  // "SIGTERM"

 private:
  int descriptor_;
  sigset_t former_{};
  std::string first_;
  bool has_been_told_ = false;  // a SIGINT or SIGTERM has come
  bool is_urgent_ = false;
};

}  // namespace rubato::app
