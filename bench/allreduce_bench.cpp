// Allreduce against the MPI library's own, on the ranks it is started with.
//
//   mpirun -n 2 allreduce_bench [--ranks-per-node=N] [--rounds=N] [--link-gbit=R] [ELEMENTS...]
//   run_on_hosts.sh --hosts 2 --rate 1gbit allreduce_bench --link-gbit=1 5000000
//
// All ways take turns (A B C A B C ...), so that whatever else the machine does meets them alike.
// One time is the slowest rank's, from a common start; the table shows medians over the rounds, of
// which sums of more than 5 million elements get at most 11.
// "slices" is SliceReducer, which a training step uses, with its result left in node-shared memory:
// addends are already in place, and each block of sums is copied over the last ones;
// "streamed" copies it with stores that go past the cache, and "in place" makes it where the last
// ones are, fetched for writing ahead, on one host. The other ways sum private arrays.
// "exact" is what a training step sums by default: doubles that are gradients rounded to a unit,
// with means in float as the result; those of several minibatches on each host or, on hosts of one
// rank, "of one", which are floats. "reading alone" is the least that any way takes in memory that
// ranks share: each rank reads all addends of its slice, its own and those that the others have
// just written.
//
// --link-gbit says how fast the link of each host is, and adds the fraction of its limit that each
// way reaches. The limit is that of floats: each host sends and receives 2 (H-1)/H of them.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/addend_sum.hpp"
#include "collectives/allreduce.hpp"
#include "collectives/copy_over.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/session.hpp"
#include "collectives/slice_reducer.hpp"
#include "collectives/streaming_copy.hpp"
#include "collectives/write_prefetch.hpp"

namespace {

using namespace rubato::collectives;

constexpr std::size_t long_sum = 5'000'000;  // elements; more get fewer rounds
constexpr std::size_t rounds_of_long_sums = 11;

struct Options {
  std::size_t ranks_per_node = 0;  // 0: as the hosts are
  std::size_t rounds = 201;
  double link_gbit = 0;  // 0: not told
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
    } else if (argument.starts_with("--link-gbit=")) {
      options.link_gbit = std::stod(argument.substr(argument.find('=') + 1));
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
  std::string name;
  std::function<void()> prepare;
  std::function<void()> sum;
  std::vector<double> microseconds{};
};

// Between two sums every rank reads the last result and writes its addends anew, as a training step
// does: otherwise the right cache lines would already be in the right caches.
void refill(std::span<const float> sums, std::span<float> addends) {
  std::ranges::fill(addends, *std::ranges::max_element(sums) > 1e30F ? 0.0F : 1.0F);
}

void refill(std::span<const float> sums, std::span<const double> rounded,
            std::span<double> addends) {
  if (*std::ranges::max_element(sums) < 1e30F) std::ranges::copy(rounded, addends.begin());
}

// What a rank's gradients are like for the exact sum: normally distributed, the largest just below
// 1, and multiples of 2^-34. Gradient is float for one minibatch's, double for sums of several.
template <class Gradient>
std::vector<double> rounded_gradients(std::size_t count, std::size_t rank) {
  std::mt19937 generator(static_cast<std::mt19937::result_type>(rank));
  std::normal_distribution<double> normal(0, 0.2);
  std::vector<double> values(count);
  constexpr double constant = 1.5 * (std::uint64_t{1} << 18U);  // 1.5 * 2^(52 - 34)
  for (double& value : values) {
    value = (static_cast<Gradient>(normal(generator)) + constant) - constant;
  }
  return values;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

// Not the first of a way's turn: the library frees memory, and on some virtual machines all that is
// read next is then slow.
double slowest_microseconds(const Communicator& all, const Way& way) {
  way.prepare();
  way.sum();
  way.prepare();
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

void print_header(const std::vector<Way>& ways, double link_gbit) {
  std::printf("%10s", "elements");
  for (const Way& way : ways) std::printf(" | %-*s", link_gbit > 0 ? 26 : 20, way.name.c_str());
  std::printf("\n");
}

void print_row(std::size_t count, const std::vector<Way>& ways, double limit_microseconds) {
  const double library = median(ways.front().microseconds);
  std::printf("%10zu", count);
  for (const Way& way : ways) {
    const double taken = median(way.microseconds);
    std::printf(" | %10.1f us %5.1fx", taken, library / taken);
    if (limit_microseconds > 0) std::printf(" %3.0f %%", 100 * limit_microseconds / taken);
  }
  std::printf("\n");
  std::fflush(stdout);
}

double limit_microseconds(const Topology& topology, std::size_t count, double link_gbit) {
  if (link_gbit == 0) return 0;
  const auto hosts = static_cast<double>(topology.node_count());
  const double bits = 2 * (hosts - 1) / hosts * static_cast<double>(count) * 32;
  return bits / (link_gbit * 1e3);
}

enum class Writing { copied, streamed, in_place };

// Sums are written, copied or rounded to where all ranks of the node see them.
template <class T>
void sum_slices(SliceReducer<T>& reducer, NodeBarrier& barrier, std::span<float> shared_sums,
                Writing writing) {
  const auto adopt = [=](std::size_t begin, std::span<const float> block) {
    if (writing == Writing::streamed) {
      streaming_copy(block, shared_sums.data() + begin);
    } else {
      copy_over(block, shared_sums.data() + begin);
    }
  };
  const auto finish = [=](std::size_t begin, std::span<const T> block) {
    if constexpr (std::is_same_v<T, float>) {
      adopt(begin, block);
    } else {
      alignas(64) std::array<float, block_elements> sums;
      std::ranges::transform(block, sums.begin(), [](T sum) { return static_cast<float>(sum); });
      adopt(begin, std::span(sums).first(block.size()));
    }
  };
  SumUse<T> use{finish, shared_sums, adopt};
  if constexpr (std::is_same_v<T, float>) {
    if (writing == Writing::in_place) {
      use.make_block = [=](std::span<const float* const> addends, std::size_t begin,
                           std::size_t size) {
        write_in_pieces(shared_sums.subspan(begin, size),
                        [&](std::size_t offset, std::span<float> piece) {
                          sum_addends<float>(addends, begin + offset, piece.size(), piece.data());
                        });
      };
    }
  }
  reducer.begin(use);
  reducer.reduce();
  barrier.wait();
}

void read_alone(std::span<const float* const> addends, const Slice& slice) {
  alignas(64) std::array<float, block_elements> sums;
  for_each_block(slice, [&](std::size_t begin, std::size_t size) {
    sum_addends<float>(addends, begin, size, sums.data());
    asm volatile("" : : "r"(sums.data()) : "memory");  // they are needed
  });
}

void measure(const Topology& topology, std::size_t count, const Options& options) {
  std::vector<float> data(count);
  NodeBarrier barrier(topology);
  const NodeMemory sums(topology, topology.node().rank() == 0 ? count * sizeof(float) : 0);
  const std::span<float> shared_sums = sums.region_as<float>(0);
  const auto reducer =
      make_slice_reducer<float>(topology, barrier, count, AllreduceAlgorithm::node_shared);
  const auto exact_reducer =
      make_slice_reducer<double>(topology, barrier, count, AllreduceAlgorithm::node_shared);
  const std::size_t me = topology.all().rank();
  std::vector<std::pair<const char*, std::vector<double>>> rounded = {
      {"slices, exact", rounded_gradients<double>(count, me)}};
  if (topology.node_count() > 1 && topology.node_count() == topology.all().size()) {
    rounded.emplace_back("slices, exact of one", rounded_gradients<float>(count, me));
  }
  std::vector<Way> ways;
  for (const char* name : {"library", "ring", "recursive-doubling", "node-shared"}) {
    ways.push_back({name, [&data] { refill(data, data); },
                    [&topology, &data, algorithm = allreduce_algorithm(name)] {
                      allreduce<float>(topology, data, algorithm);
                    }});
  }
  std::vector<std::pair<const char*, Writing>> slices = {{"slices", Writing::copied},
                                                         {"slices, streamed", Writing::streamed}};
  if (topology.node_count() == 1) slices.emplace_back("slices, in place", Writing::in_place);
  for (const auto& [name, writing] : slices) {
    ways.push_back({name, [&] { refill(shared_sums, reducer->addends()); },
                    [&, how = writing] { sum_slices(*reducer, barrier, shared_sums, how); }});
  }
  for (const auto& [name, values] : rounded) {
    ways.push_back({name,
                    [&, gradients = std::span(values)] {
                      refill(shared_sums, gradients, exact_reducer->addends());
                    },
                    [&] { sum_slices(*exact_reducer, barrier, shared_sums, Writing::copied); }});
  }
  const NodeMemory addends(topology, count * sizeof(float));
  const std::span<float> mine = addends.region_as<float>(topology.node().rank());
  std::vector<const float*> of_all;
  for (std::size_t rank = 0; rank < topology.node().size(); ++rank) {
    of_all.push_back(addends.region_as<float>(rank).data());
  }
  if (of_all.size() > 1) {
    ways.push_back({"reading alone", [mine] { refill(mine, mine); },
                    [&, slice = topology.my_slice(count)] { read_alone(of_all, slice); }});
  }
  const std::size_t rounds =
      count > long_sum ? std::min(options.rounds, rounds_of_long_sums) : options.rounds;
  take_turns(topology.all(), ways, rounds);
  if (topology.all().rank() == 0) {
    if (count == options.counts.front()) print_header(ways, options.link_gbit);
    print_row(count, ways, limit_microseconds(topology, count, options.link_gbit));
  }
}

int run(const Communicator& world, const Options& options) {
  const Topology topology =
      options.ranks_per_node == 0 ? Topology(world) : Topology(world, options.ranks_per_node);
  if (world.rank() == 0) {
    std::printf(
        "allreduce of floats: %zu ranks, %zu nodes%s; medians of %zu rounds in turn, at most %zu "
        "beyond %zu elements\n",
        world.size(), topology.node_count(),
        topology.is_oversubscribed() ? ", more ranks than cores" : "", options.rounds,
        rounds_of_long_sums, long_sum);
  }
  for (const std::size_t count : options.counts) {
    measure(topology, count, options);
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
