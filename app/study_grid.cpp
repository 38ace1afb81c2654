// See study_grid.hpp.
#include "app/study_grid.hpp"

#include <algorithm>
#include <string>

#include "app/study_axes.hpp"
#include "app/study_seed.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t most_cells = 10000;

void require_few(const StudyFile& study, const std::vector<StudyAxis>& axes) {
  std::size_t count = 1;
  for (const auto& axis : axes) {
    count *= axis.values.size();
    if (count <= most_cells) continue;
    throw data::ContentError(place_in(study.path, std::max<std::size_t>(study.grid.line, 1)) +
                             "the grid has more than " + std::to_string(most_cells) +
                             " cells; shorten its lists");
  }
}

// Counts the combinations, the last list fastest. False after the last one.
bool advance(std::vector<std::size_t>& position, const std::vector<StudyAxis>& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++position[i] < axes[i].values.size()) return true;
    position[i] = 0;
  }
  return false;
}

// The file's seed tells runs apart whose names are the same: where it stands in no list.
void give_seeds(std::vector<StudyCell>& cells) {
  std::vector<std::string> names;
  for (const auto& cell : cells) names.push_back(cell.name + " " + cell.option("seed"));
  const auto seeds = spaced_seeds(names);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (auto& option : cells[i].options) {
      if (option.name == "seed") option.value = std::to_string(seeds[i]);
    }
  }
}

}  // namespace

std::vector<StudyCell> cells_of(const StudyFile& study, const OptionTable& train,
                                const TryCell& try_cell) {
  const auto axes = axes_of(study, train);
  require_few(study, axes);
  CellMaker maker(study, train, axes, try_cell);
  std::vector<StudyCell> cells;
  std::vector<std::size_t> position(axes.size());
  do {
    std::vector<const AxisValue*> chosen;
    for (std::size_t i = 0; i < axes.size(); ++i) chosen.push_back(&axes[i].values[position[i]]);
    cells.push_back(maker.cell(chosen));
  } while (advance(position, axes));
  give_seeds(cells);
  return cells;
}

}  // namespace rubato::app
