// Speed of the update loops of the optimizers, in GB/s of memory traffic, on one core.
//
//   optimizers_bench [--benchmark_filter=adam]
//
// Sizes: 22 k floats (in the first two caches), 670 k (in the last), 25.6 M (in memory), and half
// as many, the slice of one of two ranks. Bytes per parameter count each buffer once per read and
// once per write: 12 plain, 20 with momentum, 28 for Adam, 40 for LAMB. LARS and LAMB step tensor
// by tensor, as in a run: in segments, whose norms are made on the way, of tensors of at most 2.4 M
// floats, the largest of a ResNet-50. "copy" is what the machine's memory gives a plain copy, 8
// bytes an element, by memcpy and by streaming stores: an optimizer in memory cannot be much
// faster. "read N" reads N arrays side by side and does no more, 4 N bytes an element: SGD with
// momentum reads three, Adam four, and no update is faster.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "collectives/streaming_copy.hpp"
#include "optim/layerwise.hpp"
#include "optim/norm_block.hpp"
#include "optim/optimizer.hpp"

namespace {

using namespace rubato::optim;

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.counters["GB/s"] = benchmark::Counter(1e-9 * static_cast<double>(bytes),
                                              benchmark::Counter::kIsIterationInvariantRate);
}

// Not the first time that memory is read or written, which may cost far more than all that follow.
template <class Work>
void time_after_once(benchmark::State& state, const Work& work) {
  work();
  for (auto _ : state) work();
}

void update_slice(benchmark::State& state, const OptimizerOptions& options) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto optimizer = make_optimizer<float>(options);
  const std::size_t buffer_count = optimizer->state_names().size();
  std::vector<float> parameters(size, 0.5f);
  const std::vector<float> gradient(size, 0.01f);
  std::vector<std::vector<float>> buffers(buffer_count, std::vector<float>(size));
  const std::vector<std::span<float>> slices(buffers.begin(), buffers.end());

  time_after_once(state, [&] {
    optimizer->begin_update({1e-6, 1});
    optimizer->update_slice(parameters, gradient, slices);
    benchmark::DoNotOptimize(parameters.data());
    benchmark::ClobberMemory();
  });
  count_bytes(state, size * sizeof(float) * (3 + 2 * buffer_count));
}

// What a run does with a tensor that lies in one slice (layerwise_update.hpp).
class TensorByTensor {
 public:
  TensorByTensor(const LayerwiseOptimizer<float>& optimizer, std::span<float> parameters,
                 std::span<const float> gradient, std::span<const std::span<float>> state)
      : optimizer_(optimizer),
        parameters_(parameters),
        gradient_(gradient),
        state_(state),
        state_of_segment_(state.size()) {}

  void update() {
    for (std::size_t begin = 0; begin < parameters_.size(); begin += largest_tensor) {
      update_tensor(begin, std::min(largest_tensor, parameters_.size() - begin));
    }
  }

 private:
  static constexpr std::size_t largest_tensor = 512 * 512 * 3 * 3;

  void update_tensor(std::size_t begin, std::size_t size) {
    TensorFacts facts{.weight_square = 1, .gradient_square = 1};
    if (optimizer_.makes_directions()) {
      for_each_segment(begin, size, [&](const TensorPart<float>& part) {
        facts.direction_square += optimizer_.make_direction(part, facts.is_vector);
      });
    }
    double square = 0;
    for_each_segment(begin, size, [&](const TensorPart<float>& part) {
      square += optimizer_.step(part, facts);
    });
    benchmark::DoNotOptimize(square);
  }

  template <class Use>
  void for_each_segment(std::size_t begin, std::size_t size, const Use& use) {
    for (std::size_t i = begin; i < begin + size; i += norm_block_elements) {
      const std::size_t elements = std::min(norm_block_elements, begin + size - i);
      for (std::size_t buffer = 0; buffer < state_.size(); ++buffer) {
        state_of_segment_[buffer] = state_[buffer].subspan(i, elements);
      }
      use(TensorPart<float>{parameters_.subspan(i, elements), gradient_.subspan(i, elements),
                            state_of_segment_});
    }
  }

  const LayerwiseOptimizer<float>& optimizer_;
  std::span<float> parameters_;
  std::span<const float> gradient_;
  std::span<const std::span<float>> state_;
  std::vector<std::span<float>> state_of_segment_;
};

void update_tensors(benchmark::State& state, const OptimizerOptions& options) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const auto owner = make_optimizer<float>(options);
  const auto& optimizer = dynamic_cast<const LayerwiseOptimizer<float>&>(*owner);
  const std::size_t buffer_count = owner->state_names().size();
  std::vector<float> parameters(size, 0.5f);
  const std::vector<float> gradient(size, 0.01f);
  std::vector<std::vector<float>> buffers(buffer_count, std::vector<float>(size));
  const std::vector<std::span<float>> slices(buffers.begin(), buffers.end());
  TensorByTensor tensors(optimizer, parameters, gradient, slices);

  time_after_once(state, [&] {
    owner->begin_update({1e-6, 1});
    tensors.update();
    benchmark::DoNotOptimize(parameters.data());
    benchmark::ClobberMemory();
  });
  // Directions read the parameters; the step that follows reads the state once more.
  const std::size_t second_pass = optimizer.makes_directions() ? 1 + buffer_count : 0;
  count_bytes(state, size * sizeof(float) * (3 + 2 * buffer_count + second_pass));
}

void register_optimizer(const std::string& title, const OptimizerOptions& options) {
  const bool is_layerwise = options.name == "lars" || options.name == "lamb";
  for (const std::int64_t size : {22'000, 670'000, 12'800'000, 25'600'000}) {
    benchmark::RegisterBenchmark(title.c_str(), is_layerwise ? update_tensors : update_slice,
                                 options)
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
    time_after_once(state, [&] {
      copy(std::span(source), target.data());
      benchmark::DoNotOptimize(target.data());
      benchmark::ClobberMemory();
    });
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

// Adds up rows of lanes, which the elements of no array hold up.
template <std::size_t count>
void read_arrays(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  const std::vector<std::vector<float>> arrays(count, std::vector<float>(size, 0.5F));
  time_after_once(state, [&] {
    std::array<std::array<Floats, lane_groups>, count> sums{};
    for (std::size_t i = 0; i + lanes <= size; i += lanes) {
      for (std::size_t which = 0; which < count; ++which) {
        const float* const row = arrays[which].data() + i;
        prefetch_row_after(row);
        for_each_group([&](std::size_t group) {
          sums[which][group] += load_lanes<Floats>(row + group * lane_group);
        });
      }
    }
    benchmark::DoNotOptimize(sums);
  });
  count_bytes(state, count * size * sizeof(float));
}

void register_readings() {
  benchmark::RegisterBenchmark("read 3", read_arrays<3>)
      ->Arg(25'600'000)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("read 4", read_arrays<4>)
      ->Arg(25'600'000)
      ->Unit(benchmark::kMicrosecond);
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
  options.nesterov = false;
  options.name = "lars";
  for (const std::string& form : lars_form_names()) {
    options.lars_form = lars_form(form);
    register_optimizer("lars " + form, options);
  }
  for (const std::string name : {"adam", "adamw", "lamb"}) {
    options.name = name;
    register_optimizer(name, options);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_copies();
  register_readings();
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
