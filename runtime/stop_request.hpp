// Signals that ask a run to stop: SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGHUP.
//
// While a StopRequest lives, they only set a flag; the run looks at it between updates, agrees with
// the other ranks, writes a checkpoint and ends. Who cannot wait sends SIGINT or SIGTERM a second
// time within 5 s: the process then ends at once, by the signal's default action. (A repetition
// within 0.1 s is the same request: some programs signal both a process and its group.) An ignored
// SIGINT stays ignored, as in a background job of a shell, and an ignored SIGHUP, as under nohup.
//
// Handlers run on a stack of their own: oneDNN 2.6's matrix product keeps data below the stack
// pointer, where a signal's frame on the ordinary stack overwrites them. Under one signal every
// 2 ms, three of three trainings crashed or computed wrong numbers. Make it on the thread that
// computes: to that one the kernel gives a process's signals if it can (the main thread).
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace rubato::runtime {

// SIGINT and SIGTERM closer together than this are one request.
inline constexpr std::chrono::milliseconds same_request{100};

class StopRequest {
 public:
  StopRequest();  // at most one at a time: throws std::logic_error
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  ~StopRequest();  // puts the former handlers back

  bool is_requested() const noexcept;
  std::string cause() const;  // the first signal's name, as "SIGUSR1"; empty: none has come

 private:
  std::array<struct sigaction, 5> former_;
  std::unique_ptr<std::byte[]> stack_;
  stack_t former_stack_{};
};

}  // namespace rubato::runtime
