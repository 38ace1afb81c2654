// Waiting for another process of the node to change a word in shared memory.
//
// Three stages: spin (the other is about to come), yield (the other may need this core), sleep (it
// takes long, and this core has better things to do). Spinning is left out where ranks outnumber
// cores. Sleeps grow with the wait: what they may add to it stays below a hundredth of it, and a
// rank that waits long for another all but frees its core. Futexes would wake sooner after a sleep,
// but need the kernel at every arrival.
// While it yields, a rank of a job on several nodes lets MPI work: MPI moves data only inside its
// calls, so a message that this rank has begun to send might otherwise never leave.
#pragma once

#include <chrono>
#include <cstddef>

namespace rubato::collectives {

struct Patience {
  std::size_t spins = 1000;                  // checks before the first yield
  std::chrono::microseconds yields{10'000};  // time before the first sleep
  std::chrono::microseconds sleep{50};       // shortest sleep; wins over the longest
  std::chrono::microseconds longest_sleep{250};
  bool helps_mpi = false;  // MPI may work between yields and between sleeps
};

// Gives the core away once: yields, or sleeps when `waited` exceeds the patience, for 1/128 of what
// was waited within the two lengths of a sleep.
void give_way(const Patience& patience, std::chrono::steady_clock::duration waited);

inline void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

template <class Condition>
void wait_until(const Condition& is_met, const Patience& patience) {
  for (std::size_t spin = 0; spin < patience.spins; ++spin) {
    if (is_met()) {
      return;
    }
    pause_briefly();
  }
  const auto begin = std::chrono::steady_clock::now();
  while (!is_met()) {
    give_way(patience, std::chrono::steady_clock::now() - begin);
  }
}

}  // namespace rubato::collectives
