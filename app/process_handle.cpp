// See process_handle.hpp. System calls by number: the C library has them only since 2.36.
#include "app/process_handle.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace rubato::app {

std::optional<ProcessHandle> ProcessHandle::open(pid_t pid) {
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (descriptor >= 0) return ProcessHandle(pid, descriptor);
  if (errno == ESRCH) return std::nullopt;
  throw std::system_error(errno, std::generic_category(),
                          "cannot watch process " + std::to_string(pid));
}

ProcessHandle::ProcessHandle(ProcessHandle&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ProcessHandle& ProcessHandle::operator=(ProcessHandle&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

ProcessHandle::~ProcessHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ProcessHandle::has_ended() const noexcept {
  pollfd entry{.fd = descriptor_, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

void ProcessHandle::send(int signal) const noexcept {
  ::syscall(SYS_pidfd_send_signal, descriptor_, signal, nullptr, 0);
}

}  // namespace rubato::app
