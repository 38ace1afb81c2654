// See report_page.hpp.
#include "app/report_page.hpp"

#include <algorithm>
#include <cmath>

#include "app/number_text.hpp"
#include "app/option_value.hpp"
#include "app/report_curves.hpp"
#include "app/report_facts.hpp"
#include "app/report_html.hpp"
#include "app/report_panels.hpp"
#include "app/report_summary.hpp"
#include "app/study_table.hpp"

namespace rubato::app {
namespace {

ReportRuns pointers_to(const std::vector<ReportRun>& runs) {
  ReportRuns pointers;
  for (const auto& run : runs) pointers.push_back(&run);
  return pointers;
}

std::string row_of(const std::vector<TitledFigure>& figures, FigureWriter& writer) {
  std::string text = "<div class=\"row\">\n";
  for (const auto& [title, figure] : figures) text += writer.write(figure, title);
  return text + "</div>\n";
}

std::string curves(const std::vector<Panel>& panels, FigureWriter& writer) {
  std::string text;
  for (const auto& panel : panels) {
    const auto figures = figures_of(panel);
    if (!panel.heading.empty()) text += heading(4, panel.heading);
    text += legend(panel.lines);
    text += row_of(figures.results, writer);
    if (!figures.constant.empty()) {
      text += paragraph("Constant along every run: " + joined(figures.constant, ", ") + ".");
    }
    if (!figures.course.empty()) text += row_of(figures.course, writer);
  }
  return text;
}

std::string results_tables(const StudyResults& results) {
  std::string text = heading(3, "Results");
  const std::string baseline = baseline_sentence(results);
  if (!baseline.empty()) text += paragraph(baseline + " Its row is bold.");
  for (const auto& one : tables_of(results)) {
    std::vector<HtmlRow> rows;
    for (const auto& row : one.rows) rows.push_back({row.cells, row.is_baseline});
    if (!one.group.empty()) text += heading(4, one.group);
    text += table(one.heading, rows);
  }
  return text;
}

std::string counts_of(const ReportStudy& study) {
  const auto& cells = study.results.cells;
  const auto diverged = std::count_if(cells.begin(), cells.end(),
                                      [](const CellResult& cell) { return cell.has_diverged; });
  return std::to_string(cells.size()) + " cells are over, " + std::to_string(diverged) +
         " of them diverged.";
}

// Whether somewhere there are several runs that differ in their seeds alone.
bool has_seeds(const ReportStudy& study) {
  const auto panels = panels_of(study);
  return std::any_of(panels.begin(), panels.end(), [](const Panel& panel) {
    return std::any_of(panel.lines.begin(), panel.lines.end(),
                       [](const PanelLine& line) { return line.runs > 1; });
  });
}

bool has_lost(const Figure& figure) {
  return std::any_of(figure.lines.begin(), figure.lines.end(),
                     [](const FigureLine& line) { return !line.lost.empty(); });
}

std::string summary_plots(const ReportStudy& study, FigureWriter& writer) {
  const std::string seeds =
      has_seeds(study) ? " Mean over the seeds that did not diverge; bars span them." : "";
  const Figure accuracy = accuracy_figure(study);
  std::string caption = is_of_traces(study.results)
                            ? "Best test accuracy of a run on each trace of batch sizes."
                            : "Best test accuracy of a run against its batch size.";
  caption += " The scale is logarithmic in what is missing to 100 %." + seeds;
  if (has_lost(accuracy)) caption += " A cross: diverged, whatever the seed.";
  std::string text = writer.write(accuracy, caption);
  const auto target = target_accuracy(study.results);
  if (!target) return text;
  caption = "Training time until the test accuracy first reaches " + percent(*target) +
            ", one point below the base line; of the runs that reach it." + seeds;
  return text + writer.write(time_figure(study, *target), caption);
}

std::string environment(const ReportRuns& runs) {
  auto facts = environment_of(runs);
  for (auto& fact : facts) std::replace(fact.name.begin(), fact.name.end(), '_', ' ');
  return heading(3, "Environment") + fact_list(facts);
}

// Pictures are numbered in the order in which they stand in the page.
std::string study_section(const ReportStudy& study, FigureWriter& writer) {
  const auto runs = pointers_to(study.runs);
  std::string about_lines = "A cross is where a run that diverged ended.";
  if (has_seeds(study)) {
    about_lines = "A line is the mean over the seeds that did not diverge. " + about_lines;
  }
  std::string text = heading(2, "Study " + study.results.name) + paragraph(counts_of(study));
  text += summary_plots(study, writer);
  text += results_tables(study.results);
  text += heading(3, "Along training") + paragraph(about_lines);
  text += curves(panels_of(study), writer);
  text += heading(3, "Configuration") + text_block(study.file);
  text += paragraph("Options of every cell, defaults included:");
  return text + fact_list(options_of(runs).shared) + environment(runs);
}

std::string state_of(const CellCourse& course) {
  if (course.state == CellState::finished) return "finished";
  return course.state == CellState::diverged ? "diverged" : "not at its end";
}

// One point below the best run; none without an evaluation.
std::optional<double> common_target(const std::vector<ReportRun>& runs) {
  std::optional<double> most;
  for (const auto& run : runs) {
    const auto best = best_of(run.course);
    if (best && (!most || best->accuracy > *most)) most = best->accuracy;
  }
  return most ? std::optional(*most - target_distance) : std::nullopt;
}

std::string runs_table(const std::vector<ReportRun>& runs) {
  const auto target = common_target(runs);
  std::vector<HtmlRow> rows;
  for (const auto& run : runs) {
    const auto& course = run.course;
    const auto best = best_of(course);
    const auto seconds = target ? seconds_to(course, *target) : std::nullopt;
    const bool has_loss =
        !course.evaluations.empty() && std::isfinite(course.evaluations.back().loss);
    rows.push_back(
        {{run.name, state_of(course), std::to_string(course.updates),
          best ? percent(best->accuracy) : "-", best ? fixed(best->epoch, 2) : "-",
          has_loss ? fixed(course.evaluations.back().loss, 4) : "-",
          seconds ? fixed(*seconds, 2) + " s" : "-", fixed(course.training_seconds, 2) + " s"}});
  }
  return table({"Run", "State", "Updates", "Best test accuracy", "at epoch", "Last test loss",
                target ? "Time to " + percent(*target) : "Time to accuracy", "Time to train"},
               rows);
}

std::string different_options(const ReportRuns& runs, const SharedOptions& options) {
  if (options.names.empty()) return {};
  std::vector<std::string> headings{"Run"};
  headings.insert(headings.end(), options.names.begin(), options.names.end());
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    HtmlRow row{{runs[i]->name}};
    for (const auto& value : options.values[i]) row.cells.push_back(value.empty() ? "-" : value);
    rows.push_back(std::move(row));
  }
  return paragraph("Options in which the runs differ:") + table(headings, rows);
}

std::string runs_section(const std::vector<ReportRun>& runs, FigureWriter& writer) {
  const auto pointers = pointers_to(runs);
  const auto options = options_of(pointers);
  return heading(2, "Runs") + runs_table(runs) + heading(3, "Along training") +
         curves({panel_of(runs)}, writer) + heading(3, "Configuration") +
         different_options(pointers, options) +
         paragraph(runs.size() > 1 ? "Options of every run, defaults included:"
                                   : "Options, defaults included:") +
         fact_list(options.shared) + environment(pointers);
}

}  // namespace

std::string report_page(const ReportContent& content) {
  FigureWriter writer;
  std::vector<std::string> names;
  std::string body = heading(1, "Rubato report");
  for (const auto& study : content.studies) {
    names.push_back(study.results.name);
    body += "<section>\n" + study_section(study, writer) + "</section>\n";
  }
  for (const auto& run : content.runs) names.push_back(run.name);
  if (!content.runs.empty()) {
    body += "<section>\n" + runs_section(content.runs, writer) + "</section>\n";
  }
  const std::string subject =
      names.size() > 3 ? std::to_string(names.size()) + " runs and studies" : joined(names, ", ");
  return html_page(subject + " - Rubato report", body);
}

}  // namespace rubato::app
