// Allreduce against the MPI library's own, on the ranks it is started with.
//
//   mpirun -n 2 allreduce_bench [--ranks-per-node=N] [--rounds=N] [ELEMENTS...]
//
// All ways take turns (A B C A B C ...), so that whatever else the machine does meets them alike.
// One time is the slowest rank's, from a common start; the table shows medians over the rounds.
// "slices" is SliceReducer with its result left in node-shared memory, which is what a training
// step uses: addends are already in place, and nothing is copied; "streamed" with stores that go
// past the cache. The other ways sum private arrays.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "collectives/allreduce.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/session.hpp"
#include "collectives/slice_reducer.hpp"
#include "collectives/streaming_copy.hpp"

namespace {

using namespace rubato::collectives;

struct Options {
  std::size_t ranks_per_node = 0;  // 0: as the hosts are
  std::size_t rounds = 201;
  std::vector<std::size_t> counts;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&] { return std::stoul(argument.substr(argument.find('=') + 1)); };
    if (argument.starts_with("--ranks-per-node=")) {
      options.ranks_per_node = value();
    } else if (argument.starts_with("--rounds=")) {
      options.rounds = value();
    } else {
      options.counts.push_back(std::stoul(argument));
    }
  }
  if (options.counts.empty()) {
    options.counts = {1, 1'000, 21'840, 272'474, 1'199'882, 25'600'000};
  }
  return options;
}

struct Way {
  std::span<float> addends;
  std::span<const float> sums;
  std::function<void()> sum;
  std::vector<double> microseconds{};
};

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Between two sums every rank reads the last result and writes its addends anew, as a training step
// does: otherwise the right cache lines would already be in the right caches.
double slowest_microseconds(const Communicator& all, const Way& way) {
  const float largest = *std::ranges::max_element(way.sums);
  std::ranges::fill(way.addends, largest > 1e30F ? 0.0F : 1.0F);
  all.barrier();
  const auto begin = std::chrono::steady_clock::now();
  way.sum();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  std::array<double, 1> slowest{taken.count()};
  all.maximum(slowest);
  return slowest[0];
}

void take_turns(const Communicator& all, std::vector<Way>& ways, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds + 1; ++round) {
    for (Way& way : ways) {
      const double taken = slowest_microseconds(all, way);
      if (round > 0) {  // the first one touches memory and opens connections
        way.microseconds.push_back(taken);
      }
    }
  }
}

void print_row(std::size_t count, const std::vector<Way>& ways) {
  const double library = median(ways.front().microseconds);
  std::printf("%10zu", count);
  for (const Way& way : ways) {
    const double taken = median(way.microseconds);
    std::printf(" | %10.1f us %5.1fx", taken, library / taken);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void measure(const Topology& topology, std::size_t count, std::size_t rounds) {
  std::vector<float> data(count);
  NodeBarrier barrier(topology);
  const NodeMemory sums(topology, topology.node().rank() == 0 ? count * sizeof(float) : 0);
  const std::span<float> shared_sums = sums.region_as<float>(0);
  const auto reducer =
      make_slice_reducer<float>(topology, barrier, count, AllreduceAlgorithm::node_shared);
  std::vector<Way> ways;
  for (const char* name : {"library", "ring", "recursive-doubling", "node-shared"}) {
    ways.push_back({data, data, [&topology, &data, algorithm = allreduce_algorithm(name)] {
                      allreduce<float>(topology, data, algorithm);
                    }});
  }
  ways.push_back({reducer->addends(), shared_sums, [&] {
                    reducer->reduce([&](std::size_t begin, std::span<const float> block) {
                      std::ranges::copy(block, shared_sums.data() + begin);
                    });
                    barrier.wait();
                  }});
  ways.push_back({reducer->addends(), shared_sums, [&] {
                    reducer->reduce([&](std::size_t begin, std::span<const float> block) {
                      streaming_copy(block, shared_sums.data() + begin);
                    });
                    barrier.wait();
                  }});
  take_turns(topology.all(), ways, count > 5'000'000 ? std::min<std::size_t>(rounds, 11) : rounds);
  if (topology.all().rank() == 0) {
    print_row(count, ways);
  }
}

int run(const Communicator& world, const Options& options) {
  const Topology topology =
      options.ranks_per_node == 0 ? Topology(world) : Topology(world, options.ranks_per_node);
  if (world.rank() == 0) {
    std::printf("allreduce of floats: %zu ranks, %zu nodes%s; medians of %zu rounds in turn\n",
                world.size(), topology.node_count(),
                topology.is_oversubscribed() ? ", more ranks than cores" : "", options.rounds);
    std::printf("%10s | %-19s | %-19s | %-19s | %-19s | %-19s | %-19s\n", "elements", "library",
                "ring", "recursive-doubling", "node-shared", "slices", "slices, streamed");
  }
  for (const std::size_t count : options.counts) {
    measure(topology, count, options.rounds);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run_session(
      argc, argv, [&](const Communicator& world) { return run(world, parse(argc, argv)); },
      [](const std::exception_ptr& error) -> Failure {
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& known) {
          return {70, known.what()};
        }
      });
}
