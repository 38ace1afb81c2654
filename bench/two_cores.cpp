// Whether two CPUs that this program may use are two cores at this moment, equally fast, and how
// far apart.
//
// Those of a virtual machine need not be: its host moves them about, and may have them share a
// core for a while, or put them where no cache is between them. Prints, as JSON:
//   at_once               what both compute at once, over what one computes alone: about 2 of two
//                         cores, hardly more than 1 of two threads of a core
//   slower_over_faster    the speed of the slower over that of the faster, multiplying matrices: a
//                         neighbour on the other thread of its core takes a fifth of it
//   gigabytes_per_second  how fast one reads what the other has just written: 2.7 MB, as much as
//                         mlp:512,512 has gradients
//
//   two_cores             ends with 77 where there is one core only
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/square_product.hpp"
#include "nn/backend.hpp"

namespace {

using rubato::bench::SquareProduct;

using Clock = std::chrono::steady_clock;
using Lanes [[gnu::vector_size(32)]] = float;

constexpr int rounds = 9;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
    throw std::runtime_error("two_cores: cannot choose a CPU");
  }
}

// All threads of the CPU's core, as the kernel lists them: the same text for each of them.
std::string core_of(int cpu) {
  std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                     "/topology/thread_siblings_list");
  std::string siblings;
  std::getline(file, siblings);
  return siblings.empty() ? std::to_string(cpu) : siblings;
}

// The first of each core.
std::vector<int> cpus_of_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> found;
  std::set<std::string> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(static_cast<std::size_t>(cpu), &set)) continue;
    if (cores.insert(core_of(cpu)).second) found.push_back(cpu);
  }
  return found;
}

// Both threads leave it together.
class Meeting {
 public:
  void meet() {
    const int before = arrived_.fetch_add(1);
    const int both = before - before % 2 + 2;
    while (arrived_.load() < both) {
    }
  }

 private:
  std::atomic<int> arrived_ = 0;
};

// Multiplications and additions that wait for nothing but the core's units, in millions a second.
// Not inlined: it is to be the same code wherever it is called.
[[gnu::noinline]] double arithmetic() {
  constexpr int steps = 400'000;
  std::array<Lanes, 12> chains;
  for (std::size_t i = 0; i < chains.size(); ++i) chains[i] = Lanes{} + static_cast<float>(i);
  const Lanes factor = Lanes{} + 0.999F;
  const auto begin = Clock::now();
  for (int step = 0; step < steps; ++step) {
    for (Lanes& chain : chains) chain = chain * factor + factor;
  }
  asm volatile("" : : "r"(chains.data()) : "memory");  // they are needed
  return steps / seconds_since(begin) / 1e6;
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + rounds / 2);
  return values[rounds / 2];
}

// Each of both CPUs runs work(which, round).
template <class Work>
void on_both(const std::vector<int>& cpus, const Work& work) {
  std::thread other([&] {
    run_on(cpus[1]);
    for (int round = 0; round < rounds; ++round) work(1, round);
  });
  for (int round = 0; round < rounds; ++round) work(0, round);
  other.join();
}

double at_once(const std::vector<int>& cpus) {
  Meeting meeting;
  std::vector<double> alone;
  std::array<std::vector<double>, 2> both{std::vector<double>(rounds), std::vector<double>(rounds)};
  on_both(cpus, [&](std::size_t which, int round) {
    meeting.meet();
    both[which][static_cast<std::size_t>(round)] = arithmetic();
  });
  for (int round = 0; round < rounds; ++round) alone.push_back(arithmetic());
  return (median(both[0]) + median(both[1])) / median(alone);
}

// Arithmetic that needs no memory hardly notices a neighbour on the other thread of a core.
double slower_over_faster(const std::vector<int>& cpus) {
  const rubato::nn::Backend eigen = rubato::nn::backend("eigen");
  Meeting meeting;
  std::array<SquareProduct, 2> products;
  std::array<std::vector<double>, 2> seconds{std::vector<double>(rounds),
                                             std::vector<double>(rounds)};
  on_both(cpus, [&](std::size_t which, int round) {
    meeting.meet();
    const auto begin = Clock::now();
    products[which].multiply(eigen);
    seconds[which][static_cast<std::size_t>(round)] = seconds_since(begin);
  });
  const auto [shorter, longer] = std::minmax({median(seconds[0]), median(seconds[1])});
  return shorter / longer;
}

double gigabytes_per_second(const std::vector<int>& cpus) {
  Meeting meeting;
  std::vector<std::uint64_t> array(669'706 * sizeof(float) / sizeof(std::uint64_t));
  std::vector<double> speeds;
  on_both(cpus, [&](std::size_t which, int round) {
    if (which == 1) std::iota(array.begin(), array.end(), round);
    meeting.meet();
    if (which == 0) {
      const auto begin = Clock::now();
      const std::uint64_t bits =
          std::accumulate(array.begin(), array.end(), std::uint64_t{0}, std::bit_xor<>());
      asm volatile("" : : "r"(bits));
      speeds.push_back(static_cast<double>(array.size() * sizeof(array[0])) / seconds_since(begin));
    }
    meeting.meet();
  });
  return median(speeds) / 1e9;
}

}  // namespace

int main() {
  const std::vector<int> cpus = cpus_of_cores();
  if (cpus.size() < 2) {
    std::puts("skipped: two cores");
    return 77;
  }
  run_on(cpus[0]);
  std::printf("{\"at_once\": %.3f, \"slower_over_faster\": %.3f, \"gigabytes_per_second\": %.1f}\n",
              at_once(cpus), slower_over_faster(cpus), gigabytes_per_second(cpus));
  return 0;
}
