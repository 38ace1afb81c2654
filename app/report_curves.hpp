// The plots of a panel: how its runs went, over samples, progress and seconds.
#pragma once

#include <string>
#include <vector>

#include "app/figure.hpp"
#include "app/report_panels.hpp"

namespace rubato::app {

struct TitledFigure {
  std::string title;
  Figure figure;
};

struct PanelFigures {
  std::vector<TitledFigure> results;  // three of each: over samples, over progress, over seconds
  std::vector<TitledFigure> course;   // over samples
  std::vector<std::string> constant;  // what the course leaves out, as it never changes in a run
};

// Accuracy and loss on the test set (without evaluations the training loss); training loss, batch
// size, rate, gain and noise scale along the run. What is nowhere told is left out.
PanelFigures figures_of(const Panel& panel);

}  // namespace rubato::app
