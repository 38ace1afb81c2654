// A run that comes to a standstill in update 20, for hanging_run_test.py: ranks add up numbers,
// with heartbeats and a watchdog, until one of them does what it is told to do:
//
//   stop        stops its process (SIGSTOP)
//   stop-sum    the same, as it enters the sum
//   pause       the same, but is continued after 4 s, and the run goes on to its end
//   long-pause  the same for 7 s, and computes for a second before and after it
//   sleep       computes for ever
//   cut         takes its host's network down (a network namespace of run_on_hosts.sh)
//
// usage: hanging_run ACTION RANK HANG_TIMEOUT_SECONDS
// Exit status: 71 when the watchdog ends it, 0 when it comes to its end, update 200.
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "collectives/communicator.hpp"
#include "collectives/session.hpp"
#include "runtime/heartbeat.hpp"
#include "runtime/watchdog.hpp"

namespace {

using namespace rubato;
using namespace std::chrono_literals;
using runtime::Phase;

void say(const std::string& line) {
  std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void stop_for(std::chrono::seconds duration) {
  const pid_t self = ::getpid();
  if (::fork() == 0) {
    std::this_thread::sleep_for(duration);
    ::kill(self, SIGCONT);
    ::_exit(0);
  }
  ::raise(SIGSTOP);
}

void act(const std::string& action) {
  if (action == "cut") {
    if (std::system("ip link set dev eth0 down") != 0) std::abort();
    return;
  }
  say("stands still now");
  if (action == "stop" || action == "stop-sum") ::raise(SIGSTOP);
  if (action == "pause") stop_for(4s);
  if (action == "long-pause") {
    std::this_thread::sleep_for(1s);
    stop_for(7s);
    std::this_thread::sleep_for(1s);
  }
  if (action == "sleep") std::this_thread::sleep_for(1h);
}

void train(const collectives::Communicator& world, runtime::Heartbeat& heartbeat,
           const std::string& action, std::size_t culprit) {
  for (std::uint64_t update = 1; update <= 200; ++update) {
    const bool acts = update == 20 && world.rank() == culprit;
    heartbeat.beat(update, Phase::loading_data);
    heartbeat.beat(update, Phase::computing);
    std::this_thread::sleep_for(2ms);
    if (acts && action != "stop-sum") act(action);
    // A host that is cut off may have no time to say it.
    if (update == 20 && !acts && action == "cut") say("stands still now");
    heartbeat.beat(update, Phase::summing);
    if (acts && action == "stop-sum") act(action);
    std::array<double, 1> one{1};
    world.sum(one);
    heartbeat.beat(update, Phase::updating);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  const std::string action = argv[1];
  const std::size_t culprit = std::stoul(argv[2]);
  return collectives::run_session(argc, argv, [&](collectives::Communicator& world) {
    const collectives::Topology topology(world);
    runtime::Heartbeat heartbeat(topology);
    const runtime::Watchdog watchdog(
        heartbeat, topology,
        {.hang_timeout_seconds = std::stod(argv[3]),
         .on_warning = [](const std::string& sentence) { say("warning: " + sentence); },
         .on_hang =
             [](const std::string& sentence) {
               if (!sentence.empty()) say("error: " + sentence);
               ::_exit(71);
             }});
    train(world, heartbeat, action, culprit);
    return 0;
  });
}
