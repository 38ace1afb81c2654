// A process held by a descriptor (pidfd_open(2), Linux 5.3): its end can be waited for together
// with other descriptors, and a signal never reaches another process that got the same number
// later.
#pragma once

#include <sys/types.h>

#include <optional>

namespace rubato::app {

class ProcessHandle {
 public:
  // Nothing if there is no such process (any more). Throws std::system_error if the system refuses.
  static std::optional<ProcessHandle> open(pid_t pid);

  ProcessHandle(ProcessHandle&& other) noexcept;  // leaves the other one empty
  ProcessHandle& operator=(ProcessHandle&& other) noexcept;
  ProcessHandle(const ProcessHandle&) = delete;
  ProcessHandle& operator=(const ProcessHandle&) = delete;
  ~ProcessHandle();  // closes the descriptor; the process goes on

  pid_t pid() const noexcept { return pid_; }
  int descriptor() const noexcept { return descriptor_; }  // readable once the process has ended
  bool has_ended() const noexcept;                         // true for a zombie
  void send(int signal) const noexcept;                    // nothing happens if it has ended

 private:
  ProcessHandle(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}

  pid_t pid_ = -1;
  int descriptor_ = -1;
};

}  // namespace rubato::app
