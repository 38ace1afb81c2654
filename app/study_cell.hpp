// One cell of a study: a training with all its options.
//
// What the grid and the variants say wins over [common], as a command line wins over a
// configuration file: an option of [common] that has no meaning with them (trust, where the grid
// says sgd) is left out of the cell.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "app/study_axes.hpp"
#include "app/study_file.hpp"
#include "runtime/run_options.hpp"

namespace rubato::app {

// "batch" (of batch-size), "trace", "variant", or an option of the grid; and which of its values.
struct CellCoordinate {
  std::string axis;
  std::string value;  // of a trace, its file's name without folder and ending
};

struct CellOption {
  std::string name;  // of rubato train
  std::string value;
};

struct StudyCell {
  std::vector<CellCoordinate> coordinates{};  // in the order of the axes
  std::string name{};                         // "batch=64,optimizer=lars,seed=1"
  std::string batch{};                        // the batch size, or the trace's name
  std::string group{};                        // without batch, trace and seed (study_cell.cpp)
  std::vector<CellOption> options{};          // that the file gives, in the order of train_table()
  std::vector<CellOption> defaults{};         // that rubato train adds
  std::optional<double> trial_seconds{};      // that it will take, as far as a trial can tell
  std::string why_not_tried{};                // a file is missing: FILE:LINE and which

  // Its value in the file; empty where it gives none.
  const std::string& option(const std::string& option_name) const;
  // Its value, whoever gives it; empty where it has none.
  const std::string& value(const std::string& option_name) const;
};

// Tries the training that a cell's options describe, and says about how many seconds it will take.
// May throw std::invalid_argument (a complaint that names options), data::ContentError (which names
// a file of its own) or data::MissingFileError.
using TryCell = std::function<std::optional<double>(const runtime::RunOptions&)>;

// The options as words of a command line, with --out.
std::vector<std::string> words_of(const StudyCell& cell, const std::filesystem::path& out);

class CellMaker {
 public:
  // All three outlive it. Throws data::ContentError for a base batch that is none.
  CellMaker(const StudyFile& study, const OptionTable& train, const std::vector<StudyAxis>& axes,
            TryCell try_cell);

  // Of one value of each axis. It has the seed that the file says. Throws data::ContentError with
  // the file and the line: a value that its option does not take, a formula that is wrong (with the
  // column), options that contradict each other, more epochs than a seed is for, a name that no
  // file can have, what `try_cell` (if there is one) complains of.
  StudyCell cell(const std::vector<const AxisValue*>& chosen);

 private:
  using Names = std::map<std::string, double>;

  std::optional<double> base_batch() const;
  double positive(const StudyEntry& entry) const;
  void take_coordinates(const std::vector<const AxisValue*>& chosen, StudyCell& cell) const;
  void gather(const std::vector<const AxisValue*>& chosen);
  void take_options(StudyCell& cell) const;
  void require_name(const std::string& name) const;
  void require_run(StudyCell& cell) const;
  const StudyEntry* find(const std::string& key) const;
  Names names_of_formulas() const;
  std::string value_of(const StudyEntry& entry, const Option& option, const Names& names) const;
  std::size_t line_of(const std::string& complaint) const;

  const StudyFile& study_;
  const OptionTable& train_;
  const std::vector<StudyAxis>& axes_;
  TryCell try_cell_;
  std::optional<double> base_batch_;
  // Of the cell that is being made.
  std::string cell_name_;
  std::vector<StudyEntry> entries_;
};

}  // namespace rubato::app
