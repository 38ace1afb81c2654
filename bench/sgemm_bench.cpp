// What one core can compute: a square matrix product with each backend's own sgemm.
//
//   sgemm_bench [--benchmark_min_time=0.5]
//
// The best of the counters GFLOP/s is the arithmetic limit, where nothing else runs on the machine.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/square_product.hpp"
#include "nn/backend.hpp"

namespace {

using namespace rubato::nn;
using rubato::bench::SquareProduct;

void sgemm(benchmark::State& state, Backend backend) {
  SquareProduct product;
  for (auto _ : state) {
    product.multiply(backend);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(SquareProduct::gflop, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  select_kernels(backend("auto"), "auto");
  for (const std::string& name : backend_names()) {
    if (name == "onednn-direct") continue;  // multiplies as onednn does
    benchmark::RegisterBenchmark(("sgemm/" + name).c_str(), sgemm, backend(name))
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
