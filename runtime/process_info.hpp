// What the kernel says of a process of this host (/proc/PID/stat, proc(5)).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace rubato::runtime {

struct ProcessInfo {
  char state = '?';  // R running, S sleeping, D waiting for a device, T or t stopped, Z dead
  std::uint64_t start_ticks = 0;  // when it began: with the pid, this names one process

  bool is_dead() const noexcept { return state == 'Z' || state == 'X'; }
};

std::optional<ProcessInfo> process_info(pid_t pid);  // nothing: there is no such process

}  // namespace rubato::runtime
