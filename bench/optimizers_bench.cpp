// Speed of the update loops of SGD and Adam, in GB/s of memory traffic, on one core.
//
//   optimizers_bench [--benchmark_filter=adam]
//
// Sizes: 22 k floats (in the first two caches), 670 k (in the last), 25.6 M (in memory). Bytes per
// parameter count each buffer once per read and once per write: 12 plain, 20 with momentum, 28 for
// Adam. "copy" is what the machine's memory gives a plain copy, 8 bytes an element, by memcpy and
// by streaming stores: an optimizer in memory cannot be much faster.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "collectives/streaming_copy.hpp"
#include "optim/optimizer.hpp"

namespace {

using namespace rubato::optim;

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.counters["GB/s"] = benchmark::Counter(1e-9 * static_cast<double>(bytes),
                                              benchmark::Counter::kIsIterationInvariantRate);
}

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
  count_bytes(state, size * sizeof(float) * (3 + 2 * buffer_count));
}

void register_optimizer(const std::string& title, const OptimizerOptions& options) {
  for (const std::int64_t size : {22'000, 670'000, 25'600'000}) {
    benchmark::RegisterBenchmark(title.c_str(), update_slice, options)
        ->Arg(size)
        ->Unit(benchmark::kMicrosecond);
  }
}

template <class Copy>
void register_copy(const char* title, const Copy& copy) {
  const auto measure = [copy](benchmark::State& state) {
    const auto size = static_cast<std::size_t>(state.range(0));
    const std::vector<float> source(size, 0.5f);
    std::vector<float> target(size);
    for (auto _ : state) {
      copy(std::span(source), target.data());
      benchmark::DoNotOptimize(target.data());
      benchmark::ClobberMemory();
    }
    count_bytes(state, size * 2 * sizeof(float));
  };
  benchmark::RegisterBenchmark(title, measure)->Arg(25'600'000)->Unit(benchmark::kMicrosecond);
}

void register_copies() {
  register_copy("copy memcpy", [](std::span<const float> source, float* target) {
    std::memcpy(target, source.data(), source.size_bytes());
  });
  register_copy("copy streaming", [](std::span<const float> source, float* target) {
    rubato::collectives::streaming_copy(source, target);
  });
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
  register_copies();
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
