// See stop_signals.hpp, signalfd(2).
#include "app/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/stop_request.hpp"

namespace rubato::app {
namespace {

bool is_ignored(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

// The kernel keeps a blocked signal even where it is ignored.
sigset_t stop_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2}) ::sigaddset(&set, signal);
  for (const int signal : {SIGINT, SIGHUP}) {
    if (!is_ignored(signal)) ::sigaddset(&set, signal);
  }
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
    if (signal != SIGINT && signal != SIGTERM) continue;
    const auto now = std::chrono::steady_clock::now();
    if (told_ && now - *told_ < runtime::same_request) continue;
    is_urgent_ = told_.has_value();
    told_ = now;
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
