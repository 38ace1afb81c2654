// What one core can compute: a matrix product of 1024 x 1024 floats with each backend's own sgemm.
//
//   sgemm_bench [--benchmark_min_time=0.5]
//
// The best of the counters GFLOP/s is the arithmetic limit that train_throughput.py compares with.
// A product of this size moves 12 MB and computes 2.1 GFLOP, so memory does not hold it up.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include "nn/aligned_buffer.hpp"
#include "nn/backend.hpp"
#include "nn/matrix_product.hpp"

namespace {

using namespace rubato::nn;

constexpr std::size_t size = 1024;

void sgemm(benchmark::State& state, Backend backend) {
  AlignedBuffer<float> buffers[3];
  for (AlignedBuffer<float>& buffer : buffers) std::ranges::fill(buffer.first(size * size), 0.5F);
  const MatrixView a{buffers[0].first(size * size).data(), size, size};
  const MatrixView b{buffers[1].first(size * size).data(), size, size};
  float* product = buffers[2].first(size * size).data();
  for (auto _ : state) {
    multiply(backend, a, b, product);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * size * size * size, benchmark::Counter::kIsIterationInvariantRate);
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
