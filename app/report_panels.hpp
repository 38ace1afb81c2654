// Which curves of a report stand together: a panel has a line for each of several runs, or for each
// of several means over seeds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/report_content.hpp"
#include "app/run_curve.hpp"

namespace rubato::app {

struct PanelLine {
  std::string label;
  RunCurve curve;  // the mean of those that came to their end; of all where none did
  std::size_t runs = 0;
  std::size_t diverged = 0;  // of them

  bool is_lost() const noexcept { return diverged == runs; }
};

struct Panel {
  std::string heading;  // empty: there is one
  std::vector<PanelLine> lines;
};

// A panel for each group with a line for each batch size (or trace), or the other way round: as few
// panels as that makes.
std::vector<Panel> panels_of(const ReportStudy& study);

// One panel, each run a line.
Panel panel_of(const std::vector<ReportRun>& runs);

}  // namespace rubato::app
