// Speed of the passes that take in a minibatch's gradient, in GB/s of memory traffic, on one core.
//
//   sums_bench [--benchmark_filter=exact]
//
// "look" reads a gradient for its norm and largest magnitude, and leaves it where it is; "add" and
// "add two" also round it and add it to the sums: doubles, of the exact sum, or floats, of the fast
// one. Sizes: 22 k floats (in the first two caches), 670 k (in the last), 25.6 M (in memory), as
// one tensor. Bytes count each buffer once per read and once per write.
#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "optim/exact_units.hpp"
#include "optim/gradient_accumulator.hpp"
#include "optim/tensor_segments.hpp"

namespace {

using namespace rubato::optim;

enum class Pass { look, add, add_two };

template <class Sum>
void take_in(benchmark::State& state, Pass pass) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::array<TensorRange, 1> tensors{TensorRange{.name = "all", .size = size}};
  const TensorSegments segments(tensors, size);
  constexpr float largest = 0.01F;
  const std::array<std::uint32_t, 1> largest_bits{std::bit_cast<std::uint32_t>(largest)};
  ExactUnits units(1);
  units.adopt(largest_bits, 4);
  const std::vector<float> a(size, largest);
  const std::vector<float> b(size, -largest / 3);
  std::vector<Sum> sums(size);
  GradientAccumulator accumulator(segments, 1, std::span<Sum>(sums));
  accumulator.begin();
  accumulator.add(a, units);
  for (auto _ : state) {
    if (pass == Pass::look) {
      benchmark::DoNotOptimize(accumulator.look(a));
    } else if (pass == Pass::add) {
      benchmark::DoNotOptimize(accumulator.add(a, units));
    } else {
      benchmark::DoNotOptimize(accumulator.add_two(a, b, units));
    }
    benchmark::ClobberMemory();
  }
  const std::size_t gradients = pass == Pass::add_two ? 2 : 1;
  const std::size_t of_sums = pass == Pass::look ? 0 : 2 * sizeof(Sum);
  const auto bytes = static_cast<double>(size * (gradients * sizeof(float) + of_sums));
  state.counters["GB/s"] =
      benchmark::Counter(1e-9 * bytes, benchmark::Counter::kIsIterationInvariantRate);
}

template <class Sum>
void register_passes(const std::string& kind) {
  for (const auto& [name, pass] : {std::pair{"look", Pass::look}, std::pair{"add", Pass::add},
                                   std::pair{"add two", Pass::add_two}}) {
    benchmark::RegisterBenchmark((kind + ", " + name).c_str(), take_in<Sum>, pass)
        ->Arg(22'016)
        ->Arg(669'712)
        ->Arg(25'600'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_passes<double>("exact");
  register_passes<float>("fast");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 64;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
