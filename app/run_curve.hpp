// A run from its beginning to its end, as it is drawn: what its metrics.jsonl says, in few points.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace rubato::app {

// How far along a run something was.
struct CurvePlace {
  double samples = 0;   // trained on
  double progress = 0;  // in updates of the reference batch (AdaScale, arXiv:2007.05105)
  double seconds = 0;   // of training, without evaluations
};

// NaN stands for what was not finite or not told, here and below.
struct UpdatePoint {
  CurvePlace at{};
  double loss = 0;  // of the training samples
  double batch = 0;
  double rate = 0;
  double gain = 0;
  double noise_scale = 0;  // samples
};

struct EvaluationPoint {
  CurvePlace at{};
  double loss = 0;      // on the test set, as the next
  double accuracy = 0;  // of 1
};

// What a run says of itself before its first update: program, host, data, model.
struct RunFact {
  std::string name;
  std::string value;

  bool operator==(const RunFact&) const = default;
};

struct RunCurve {
  std::vector<UpdatePoint> updates{};
  std::vector<EvaluationPoint> evaluations{};
  std::vector<RunFact> facts{};  // of its newest start; without the configuration
};

inline constexpr std::size_t most_curve_points = 500;

// Of DIR/metrics.jsonl; empty where there is none. More than `most` updates are thinned out: each
// point then stands for equally many updates (the last for what is left of them), with the mean of
// their losses and everything else as it is at the last of them. Evaluations likewise, without a
// mean. So the last point is always the run's last.
RunCurve curve_of(const std::filesystem::path& directory, std::size_t most = most_curve_points);

// Place by place the mean of several, up to where the first of them ends. No facts.
RunCurve mean_of(const std::vector<const RunCurve*>& curves);

}  // namespace rubato::app
