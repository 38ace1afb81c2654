// See stop_signals.hpp, signalfd(2).
#include "app/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace rubato::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  ::sigprocmask(SIG_BLOCK, &set, &former_);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ >= 0) return;
  ::sigprocmask(SIG_SETMASK, &former_, nullptr);
  throw std::system_error(errno, std::generic_category(), "cannot take signals");
}

StopSignals::~StopSignals() {
  ::close(descriptor_);
  ::sigprocmask(SIG_SETMASK, &former_, nullptr);
}

void StopSignals::look() {
  signalfd_siginfo one{};
  while (::read(descriptor_, &one, sizeof(one)) == sizeof(one)) {
    const auto signal = static_cast<int>(one.ssi_signo);
    if (first_ == 0) first_ = signal;
    const bool is_pressing = signal == SIGINT || signal == SIGTERM;
    is_urgent_ = is_urgent_ || (is_pressing && has_been_told_);
    has_been_told_ = has_been_told_ || is_pressing;
  }
}

std::string StopSignals::first() const {
  return first_ == 0 ? "" : "SIG" + std::string(::sigabbrev_np(first_));
}

void StopSignals::require_none() {
  look();
  if (wants_stop()) throw Interrupted(first_);
}

}  // namespace rubato::app
