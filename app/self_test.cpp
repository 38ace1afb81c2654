// See self_test.hpp. Sums are checked against closed forms that differ by rank and position. A
// failure that only one rank sees must not keep the others waiting, so every check runs to its end
// on every rank before the results are compared.
#include "app/self_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <nlohmann/json.hpp>

#include "app/number_text.hpp"
#include "collectives/allreduce.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/node_memory.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "runtime/seconds_since.hpp"

namespace rubato::app {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckResult, name, measured, problem, remedy)

namespace {

using collectives::Topology;

class Stopwatch {
 public:
  double seconds() const { return runtime::seconds_since(begin_); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string rounded(double value, int digits, const std::string& unit) {
  return fixed(value, digits) + " " + unit;
}

CheckResult check_arithmetic() {
  CheckResult result{.name = "arithmetic"};
  try {
    nn::check_arithmetic();
  } catch (const std::exception& error) {
    result.problem = error.what();
    result.remedy = "build without -ffast-math, and preload no library that changes rounding";
  }
  return result;
}

CheckResult check_node_memory(const Topology& topology) {
  constexpr std::size_t bytes = std::size_t{4} << 20U;
  CheckResult result{.name = "node-shared memory"};
  const collectives::NodeMemory memory(topology, bytes);
  collectives::NodeBarrier barrier(topology);
  const std::size_t ranks = topology.node().size();
  const auto pattern = [](std::size_t rank, std::size_t i) { return (rank + 1) * 1000003 + i; };
  const auto mine = memory.region_as<std::uint64_t>(topology.node().rank());
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = pattern(topology.node().rank(), i);
  barrier.wait();
  for (std::size_t rank = 0; rank < ranks && result.problem.empty(); ++rank) {
    const auto theirs = memory.region_as<std::uint64_t>(rank);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i] == pattern(rank, i)) continue;
      result.problem = "what one rank writes into shared memory another reads otherwise";
      result.remedy = "check the memory of this host";
      break;
    }
  }
  barrier.wait();
  result.measured = std::to_string(ranks * (bytes >> 20U)) + " MiB written and read back";
  return result;
}

// Element i of rank r is (r + 1) * (i % 1013 + 1); every sum is a whole number, exact in double.
CheckResult check_allreduce(const Topology& topology, const std::string& algorithm) {
  constexpr std::size_t count = 100'003;
  CheckResult result{.name = "allreduce " + algorithm};
  const auto addend = [](std::size_t rank, std::size_t i) { return (rank + 1) * (i % 1013 + 1); };
  const std::size_t ranks = topology.all().size();
  std::vector<double> values(count);
  double seconds = 0;
  for (int round = 0; round < 2; ++round) {  // the first one also makes connections
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = static_cast<double>(addend(topology.all().rank(), i));
    }
    topology.all().barrier();
    const Stopwatch watch;
    collectives::allreduce<double>(topology, values, collectives::allreduce_algorithm(algorithm));
    seconds = watch.seconds();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = static_cast<double>(ranks * (ranks + 1) / 2 * (i % 1013 + 1));
    if (values[i] == expected) continue;
    result.problem = "a sum over ranks is wrong: element " + std::to_string(i) + " is " +
                     std::to_string(values[i]) + ", expected " + std::to_string(expected);
    result.remedy = "check the memory and the network of these hosts";
    break;
  }
  result.measured = rounded(1000 * seconds, 2, "ms for 100003 doubles");
  return result;
}

CheckResult check_barrier(const Topology& topology) {
  constexpr int most_rounds = 1000;
  constexpr double slow_microseconds = 1000;
  collectives::NodeBarrier barrier(topology);
  barrier.wait();
  const Stopwatch watch;
  for (int round = 0; round < most_rounds; ++round) barrier.wait();
  const double microseconds = 1e6 * watch.seconds() / most_rounds;
  CheckResult result{.name = "barrier within a host",
                     .measured = rounded(microseconds, 1, "microseconds")};
  if (microseconds > slow_microseconds) {
    result.problem = "a barrier takes " + result.measured + "; an update has several";
    result.remedy = "start fewer ranks, or leave the cores to them";
  }
  return result;
}

// Steps of mlp:512 on 28 x 28 inputs for a quarter of a second; GFLOP/s of its matrix products.
CheckResult measure_model_step(const Topology& topology) {
  constexpr std::size_t samples = 32;
  constexpr std::size_t inputs = 784;
  constexpr double flop_per_step = 6.0 * samples * (inputs * 512 + 512 * 10);
  const auto model =
      nn::make_model("mlp:512", {.height = 28, .width = 28}, 10, nn::backend("auto"));
  std::vector<float> parameters(model->layout().total_elements());
  std::vector<float> gradient(parameters.size());
  const std::vector<float> pixels(samples * inputs, 0.5F);
  const std::vector<std::int32_t> labels(samples, 3);
  model->initialize(parameters, 42);
  model->use_parameters(parameters);
  const nn::MinibatchView minibatch{.inputs = pixels, .labels = labels, .key = {}};
  model->gradient(minibatch, gradient);  // allocates its scratch memory
  topology.all().barrier();
  const Stopwatch watch;
  int steps = 0;
  for (; watch.seconds() < 0.25; ++steps) {
    model->gradient(minibatch, gradient);
  }
  std::array<double, 2> rates{flop_per_step * steps / watch.seconds() / 1e9, 0};
  rates[1] = -rates[0];
  topology.all().maximum(rates);
  const double fastest = rates[0];
  const double slowest = -rates[1];
  CheckResult result{
      .name = "model step (mlp:512, minibatch 32)",
      .measured = rounded(slowest, 1, "to ") + rounded(fastest, 1, "GFLOP/s a rank")};
  return result;
}

// Of each check: what rank 0 measured, and the first problem that any rank found.
std::vector<CheckResult> merge(const collectives::Communicator& all,
                               const std::vector<CheckResult>& mine) {
  std::vector<CheckResult> merged;
  for (const auto& text : all.gather(nlohmann::json(mine).dump())) {
    const auto theirs = nlohmann::json::parse(text).get<std::vector<CheckResult>>();
    if (merged.empty()) merged = theirs;
    for (std::size_t i = 0; i < merged.size(); ++i) {
      if (!merged[i].problem.empty()) continue;
      merged[i].problem = theirs[i].problem;
      merged[i].remedy = theirs[i].remedy;
    }
  }
  return merged;
}

}  // namespace

std::vector<CheckResult> self_test(const Topology& topology) {
  std::vector<CheckResult> results{check_arithmetic(), check_node_memory(topology)};
  for (const auto& algorithm : collectives::allreduce_algorithm_names()) {
    results.push_back(check_allreduce(topology, algorithm));
  }
  results.push_back(check_barrier(topology));
  results.push_back(measure_model_step(topology));
  return merge(topology.all(), results);
}

}  // namespace rubato::app
