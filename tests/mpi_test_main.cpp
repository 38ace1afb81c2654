// main() of every MPI test program: one gtest run on each rank, one verdict for all.
//
//   --expect-ranks=N      (required) fail unless the job has N ranks: a test that was started
//                         without its launcher must not pass
//   --time-limit=SECONDS  end the job, naming rank and test, when one test runs longer (default 60;
//                         also RUBATO_TEST_TIME_LIMIT). The other ranks may wait for it for ever
//   --wait-rank=N         rank N prints its process id and waits for a debugger (then: set
//                         is_attached = 1)
//
// Rank 0 prints as gtest does; the other ranks print their failures only, with their rank.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "collectives/communicator.hpp"
#include "collectives/session.hpp"

namespace {

using rubato::collectives::Communicator;
using rubato::collectives::Session;

constexpr int exit_code_of_time_limit = 124;

struct Options {
  std::size_t expected_ranks = 0;
  std::chrono::seconds time_limit{60};
  long waiting_rank = -1;
};

Options parse(int argc, char** argv) {
  Options options;
  if (const char* const limit = std::getenv("RUBATO_TEST_TIME_LIMIT")) {
    options.time_limit = std::chrono::seconds(std::stol(limit));
  }
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const long value = equals == std::string::npos ? 0 : std::stol(argument.substr(equals + 1));
    if (name == "--expect-ranks") {
      options.expected_ranks = static_cast<std::size_t>(value);
    } else if (name == "--time-limit") {
      options.time_limit = std::chrono::seconds(value);
    } else if (name == "--wait-rank") {
      options.waiting_rank = value;
    } else {
      throw std::invalid_argument("unknown option " + argument);
    }
  }
  return options;
}

void print_error(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void wait_for_debugger(std::size_t rank) {
  print_error("rank " + std::to_string(rank) + " is process " + std::to_string(getpid()) +
              " and waits: attach a debugger and set is_attached = 1");
  volatile int is_attached = 0;
  while (is_attached == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// On ranks other than 0, in the place of gtest's printer.
class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(std::size_t rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed()) {
      const char* const file = result.file_name() == nullptr ? "unknown file" : result.file_name();
      print_error("[ rank " + std::to_string(rank_) + " ] " + file + ":" +
                  std::to_string(result.line_number()) + ": Failure\n" + result.message());
    }
  }

  std::size_t rank_;
};

// Ends the process, and with it the job, if one test takes longer than the limit.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  Watchdog(std::size_t rank, std::chrono::seconds limit)
      : rank_(rank), limit_(limit), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

 private:
  using Clock = std::chrono::steady_clock;

  void OnTestStart(const testing::TestInfo& test) override {
    const std::scoped_lock lock(mutex_);
    running_ = std::string(test.test_suite_name()) + "." + test.name();
    deadline_ = Clock::now() + limit_;
  }
  void OnTestEnd(const testing::TestInfo&) override {
    const std::scoped_lock lock(mutex_);
    running_.clear();
  }

  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      turn_.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
      if (!running_.empty() && Clock::now() > deadline_) {
        end_job();
      }
    }
  }

  // Not MPI_Abort: MPI belongs to the main thread. mpirun ends all ranks when one ends badly.
  [[noreturn]] void end_job() const {
    print_error("[ rank " + std::to_string(rank_) + " ] test " + running_ + " has run for " +
                std::to_string(limit_.count()) + " s: ending the job");
    std::_Exit(exit_code_of_time_limit);
  }

  std::size_t rank_;
  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable_any turn_;
  std::string running_;
  Clock::time_point deadline_;
  std::jthread thread_;  // last: it starts when all else is there
};

void install_listeners(std::size_t rank, const Options& options) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  listeners.Append(new Watchdog(rank, options.time_limit));
}

// The verdict of all ranks: 0 if all passed.
int combined(const Communicator& world, bool has_failed) {
  std::array<std::int64_t, 1> failures{has_failed ? 1 : 0};
  world.sum(failures);
  if (world.rank() == 0 && failures[0] > 0) {
    print_error("tests failed on " + std::to_string(failures[0]) + " of " +
                std::to_string(world.size()) + " ranks");
  }
  return failures[0] > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

int run_tests(const Communicator& world, const Options& options) {
  if (world.size() != options.expected_ranks) {
    print_error("this test expects --expect-ranks=" + std::to_string(options.expected_ranks) +
                ", but the job has " + std::to_string(world.size()) + " ranks");
    return EXIT_FAILURE;
  }
  if (options.waiting_rank == static_cast<long>(world.rank())) {
    wait_for_debugger(world.rank());
  }
  install_listeners(world.rank(), options);
  const bool has_failed = RUN_ALL_TESTS() != 0;
  return combined(world, has_failed || testing::UnitTest::GetInstance()->test_to_run_count() == 0);
}

}  // namespace

int main(int argc, char** argv) {
  Session session(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const Communicator world = Communicator::world();
  return run_tests(world, parse(argc, argv));
}
