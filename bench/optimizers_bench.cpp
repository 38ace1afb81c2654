// Speed of the update loops of SGD and Adam, in GB/s of memory traffic, on one core.
//
//   optimizers_bench [--benchmark_filter=adam]
//
// Sizes: 22 k floats (in the first two caches), 670 k (in the last), 25.6 M (in memory). Bytes per
// parameter count each buffer once per read and once per write: 12 plain, 20 with momentum, 28 for
// Adam.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optim/optimizer.hpp"

namespace {

using namespace rubato::optim;

void update_slice(benchmark::State& state, const OptimizerOptions& options) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto optimizer = make_optimizer<float>(options);
  const std::size_t buffer_count = optimizer->state_names().size();
  std::vector<float> parameters(size, 0.5f);
  const std::vector<float> gradient(size, 0.01f);
  std::vector<std::vector<float>> buffers(buffer_count, std::vector<float>(size));
  const std::vector<std::span<float>> slices(buffers.begin(), buffers.end());

  for (auto _ : state) {
    optimizer->begin_update({1e-6, 1});
    optimizer->update_slice(parameters, gradient, slices);
    benchmark::DoNotOptimize(parameters.data());
    benchmark::ClobberMemory();
  }
  const std::size_t bytes = size * sizeof(float) * (3 + 2 * buffer_count);
  state.counters["GB/s"] = benchmark::Counter(1e-9 * static_cast<double>(bytes),
                                              benchmark::Counter::kIsIterationInvariantRate);
}

void register_optimizer(const std::string& title, const OptimizerOptions& options) {
  for (const std::int64_t size : {22'000, 670'000, 25'600'000}) {
    benchmark::RegisterBenchmark(title.c_str(), update_slice, options)
        ->Arg(size)
        ->Unit(benchmark::kMicrosecond);
  }
}

void register_all() {
  OptimizerOptions options;
  options.weight_decay = 1e-4;
  register_optimizer("sgd", options);
  options.momentum = 0.9;
  register_optimizer("sgd momentum torch", options);
  options.form = MomentumForm::v;
  register_optimizer("sgd momentum v", options);
  options.form = MomentumForm::torch;
  options.nesterov = true;
  register_optimizer("sgd nesterov", options);
  for (const std::string name : {"adam", "adamw"}) {
    options.name = name;
    register_optimizer(name, options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
