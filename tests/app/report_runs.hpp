// Runs and studies made by hand, for the tests of what reports show of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/report_content.hpp"
#include "study_courses.hpp"

namespace rubato::app {

// Ten updates of 32 samples and a second before each evaluation.
inline RunCurve made_curve(const std::vector<double>& accuracies) {
  RunCurve curve;
  CurvePlace place;
  for (const double accuracy : accuracies) {
    for (int update = 0; update < 10; ++update) {
      place = {place.samples + 32, place.progress + 2, place.seconds + 1};
      curve.updates.push_back({.at = place,
                               .loss = 2 - accuracy,
                               .batch = 32,
                               .rate = 0.1,
                               .gain = 1,
                               .noise_scale = 50 + place.progress});
    }
    curve.evaluations.push_back({.at = place, .loss = 1 - accuracy, .accuracy = accuracy});
  }
  curve.facts = {{"version", "1.2.3"}, {"build_type", "Release"}};
  return curve;
}

inline ReportRun made_run(const std::string& name, CellState state,
                          const std::vector<double>& accuracies) {
  return {.name = name,
          .group = {},
          .batch = {},
          .course = made_course(state, accuracies),
          .curve = made_curve(accuracies),
          .configuration = "# Task\ndata = digits\nlr = 0.1\n"};
}

struct MadeCell {
  std::string group;
  std::string batch;
  std::string seed;
  CellState state = CellState::finished;
  std::vector<double> accuracies;
};

inline ReportStudy made_study(const std::string& name, const std::vector<MadeCell>& made) {
  std::vector<StudyCell> cells;
  std::vector<CellCourse> courses;
  ReportStudy study;
  for (const auto& one : made) {
    cells.push_back(made_cell(one.group, one.batch, one.seed));
    courses.push_back(made_course(one.state, one.accuracies));
    auto run = made_run(cells.back().name, one.state, one.accuracies);
    run.group = cells.back().group;
    run.batch = one.batch;
    study.runs.push_back(std::move(run));
  }
  study.results = results_of(name, cells, courses);
  study.file = "[study]\nname = " + name + "\n";
  return study;
}

}  // namespace rubato::app
