// The handler touches lock-free atomics and calls async-signal-safe functions only.
#include "runtime/stop_request.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace rubato::runtime {

namespace {

struct StopSignal {
  int number;
  const char* name;
  bool ends_when_repeated;
};
constexpr std::array<StopSignal, 5> stop_signals{{{SIGUSR1, "SIGUSR1", false},
                                                  {SIGUSR2, "SIGUSR2", false},
                                                  {SIGTERM, "SIGTERM", true},
                                                  {SIGINT, "SIGINT", true},
                                                  {SIGHUP, "SIGHUP", false}}};
constexpr std::size_t stack_bytes = 64 * 1024;  // the registers of AVX-512 alone take 3 KiB

constexpr std::int64_t milliseconds = 1'000'000;  // in nanoseconds
constexpr std::int64_t second_request = 5'000 * milliseconds;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;

// A signal handler has no arguments of ours: one state for the process.
std::atomic<bool> is_installed{false};
std::atomic<int> first_signal{0};
std::atomic<std::int64_t> last_order{never};  // when SIGTERM or SIGINT last came
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000 * milliseconds + time.tv_nsec;
}

void note_signal(int number) noexcept {
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
}

extern "C" void note_request(int number) { note_signal(number); }

extern "C" void note_order(int number) {
  const int error = errno;
  note_signal(number);
  const std::int64_t time = now();
  const std::int64_t waited = time - last_order.load();
  if (waited >= std::chrono::nanoseconds(same_request).count()) {
    last_order.store(time);
    if (waited < second_request) {
      ::signal(number, SIG_DFL);
      ::raise(number);  // delivered when this handler returns
    }
  }
  errno = error;
}

void set_action(int number, const struct sigaction& action, struct sigaction* former) {
  if (::sigaction(number, &action, former) == 0) return;
  throw std::system_error(errno, std::generic_category(), "sigaction");
}

}  // namespace

StopRequest::StopRequest() : stack_(std::make_unique<std::byte[]>(stack_bytes)) {
  if (is_installed.exchange(true)) {
    throw std::logic_error("StopRequest: there is one already in this process");
  }
  first_signal.store(0);
  last_order.store(never);
  const stack_t stack{.ss_sp = stack_.get(), .ss_flags = 0, .ss_size = stack_bytes};
  if (::sigaltstack(&stack, &former_stack_) != 0) {
    throw std::system_error(errno, std::generic_category(), "sigaltstack");
  }
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    const StopSignal& stop = stop_signals[i];
    struct sigaction action {};
    action.sa_handler = stop.ends_when_repeated ? note_order : note_request;
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    set_action(stop.number, action, &former_[i]);
    const bool may_be_ignored = stop.number == SIGINT || stop.number == SIGHUP;
    if (may_be_ignored && former_[i].sa_handler == SIG_IGN) {
      set_action(stop.number, former_[i], nullptr);
    }
  }
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < stop_signals.size(); ++i) {
    ::sigaction(stop_signals[i].number, &former_[i], nullptr);
  }
  ::sigaltstack(&former_stack_, nullptr);
  is_installed.store(false);
}

bool StopRequest::is_requested() const noexcept { return first_signal.load() != 0; }

std::string StopRequest::cause() const {
  const int number = first_signal.load();
  for (const StopSignal& stop : stop_signals) {
    if (stop.number == number) return stop.name;
  }
  return {};
}

}  // namespace rubato::runtime
