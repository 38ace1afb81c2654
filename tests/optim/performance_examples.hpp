// The reference vectors of goodput, random parameters and numbers of a plausible size, times that
// follow parameters, and a clock that other programs do not move.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "optim/batch_candidates.hpp"
#include "optim/performance_fit.hpp"
#include "optim/performance_model.hpp"

namespace rubato::optim {

inline nlohmann::json goodput_vectors() {
  std::ifstream file(RUBATO_SOURCE_DIR "/tests/golden/goodput_golden.json");
  return nlohmann::json::parse(file);
}

inline PerformanceParameters reference_parameters(const nlohmann::json& golden) {
  const nlohmann::json& p = golden["perf_params"];
  return {p["alpha_c"], p["beta_c"], p["alpha_n"], p["beta_n"],
          p["alpha_r"], p["beta_r"], p["gamma"]};
}

// Of one of the vectors' searches.
inline BatchLimits reference_limits(const nlohmann::json& search) {
  return {.initial_batch = search["init_batch"],
          .max_batch_size = search["max_batch"].get<std::uint64_t>(),
          .local_bounds = LocalBounds{search["bounds"][0], search["bounds"][1]},
          .has_accumulation = search["accumulation"],
          .may_be_single_at_initial = true};
}

class PerformanceExamples {
 public:
  explicit PerformanceExamples(std::uint64_t seed) : engine_(seed) {}

  // Of equal chance in every decade.
  double between(double low, double high) {
    return low * std::pow(high / low, std::generate_canonical<double, 53>(engine_));
  }
  std::uint64_t whole(std::uint64_t low, std::uint64_t high) {
    return low + engine_() % (high - low + 1);
  }
  bool coin() { return whole(0, 1) == 1; }
  double normal() { return normal_(engine_); }
  PerformanceParameters parameters(double widest_overlap = 10) {
    return {between(1e-4, 0.1), between(1e-6, 1e-2), between(1e-3, 0.3),        between(1e-5, 0.03),
            between(1e-4, 0.1), between(1e-5, 0.01), between(1, widest_overlap)};
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

// Of the fastest of a few calls.
template <class Function>
double least_processor_seconds(const Function& function) {
  double least = 1;
  for (int i = 0; i < 20; ++i) {
    const std::clock_t start = std::clock();
    function();
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least;
}

using Profile = std::vector<Measurement>;

inline Measurement measured(const PerformanceParameters& parameters, const UpdateWork& work) {
  const UpdateTime time = predict(parameters, work);
  return {work, time.substep_seconds, time.update_seconds, 20};
}

// One to sixteen ranks on one to four hosts, four minibatch sizes, one and two substeps.
inline Profile full_profile(const PerformanceParameters& parameters) {
  Profile profile;
  for (const double minibatch : {16.0, 32.0, 64.0, 128.0}) {
    for (const double substeps : {1.0, 2.0}) {
      for (const std::size_t ranks : {1u, 2u, 4u, 8u, 16u}) {
        const std::size_t hosts = ranks > 4 ? ranks / 4 : 1;
        profile.push_back(measured(parameters, {hosts, ranks, minibatch, substeps}));
      }
    }
  }
  return profile;
}

}  // namespace rubato::optim
