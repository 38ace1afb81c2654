// See report_panels.hpp.
#include "app/report_panels.hpp"

#include <algorithm>

#include "app/study_table.hpp"

namespace rubato::app {
namespace {

using Runs = std::vector<const ReportRun*>;
using Name = std::string ReportRun::*;

std::vector<std::string> names_of(const Runs& runs, Name name) {
  std::vector<std::string> names;
  for (const auto* run : runs) {
    const bool is_new = std::find(names.begin(), names.end(), run->*name) == names.end();
    if (is_new) names.push_back(run->*name);
  }
  return names;
}

Runs only(const Runs& runs, Name name, const std::string& value) {
  Runs found;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(found),
               [&](const ReportRun* run) { return run->*name == value; });
  return found;
}

PanelLine line_of(const std::string& label, const Runs& runs) {
  std::vector<const RunCurve*> finished;
  std::vector<const RunCurve*> diverged;
  for (const auto* run : runs) {
    const bool is_diverged = run->course.state == CellState::diverged;
    (is_diverged ? diverged : finished).push_back(&run->curve);
  }
  return {.label = label,
          .curve = mean_of(finished.empty() ? diverged : finished),
          .runs = runs.size(),
          .diverged = diverged.size()};
}

}  // namespace

std::vector<Panel> panels_of(const ReportStudy& study) {
  Runs runs;
  for (const auto& run : study.runs) runs.push_back(&run);
  const std::string axis = is_of_traces(study.results) ? "trace " : "batch ";
  const auto label_of = [&](Name name, const std::string& value) {
    return name == &ReportRun::batch ? axis + value : value.empty() ? "all" : value;
  };
  const bool has_few_groups =
      names_of(runs, &ReportRun::group).size() <= names_of(runs, &ReportRun::batch).size();
  const Name panel_name = has_few_groups ? &ReportRun::group : &ReportRun::batch;
  const Name line_name = has_few_groups ? &ReportRun::batch : &ReportRun::group;
  std::vector<Panel> panels;
  const auto headings = names_of(runs, panel_name);
  for (const auto& heading : headings) {
    const auto shown = only(runs, panel_name, heading);
    Panel panel{.heading = headings.size() > 1 ? label_of(panel_name, heading) : "", .lines = {}};
    for (const auto& label : names_of(shown, line_name)) {
      panel.lines.push_back(line_of(label_of(line_name, label), only(shown, line_name, label)));
    }
    panels.push_back(std::move(panel));
  }
  return panels;
}

Panel panel_of(const std::vector<ReportRun>& runs) {
  Panel panel;
  for (const auto& run : runs) panel.lines.push_back(line_of(run.name, {&run}));
  return panel;
}

}  // namespace rubato::app
