// See study_cell.hpp.
#include "app/study_cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "app/formula.hpp"
#include "app/option_value.hpp"
#include "app/run_from_options.hpp"
#include "app/study_seed.hpp"
#include "data/errors.hpp"
#include "data/in_quotes.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t longest_name = 255 - 4;       // a file system's, but for ".log"
constexpr double largest_whole = 9007199254740992;  // 2^53: beyond, doubles skip numbers

bool is_whole(double value) {
  return std::floor(value) == value && std::abs(value) <= largest_whole;
}

// As a person would write it: 0.05 * 1.5 is 0.075, though not to the last bit. A whole number has
// no exponent.
std::string text_of(double value) {
  constexpr int digits = 15;  // that every double keeps
  std::array<char, 32> text{};
  char* const end = text.data() + text.size();
  const auto written =
      is_whole(value) ? std::to_chars(text.data(), end, static_cast<std::int64_t>(value))
                      : std::to_chars(text.data(), end, value, std::chars_format::general, digits);
  return {text.data(), written.ptr};
}

// Where `key` stands in the text as a word of its own, with or without dashes before it.
std::size_t place_of_word(const std::string& text, const std::string& key) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  for (auto place = text.find(key); place != std::string::npos; place = text.find(key, place + 1)) {
    const bool is_option = place >= 2 && text.compare(place - 2, 2, "--") == 0;
    const bool begins = is_option || place == 0 || !is_part(text[place - 1]);
    const auto end = place + key.size();
    if (begins && (end == text.size() || !is_part(text[end]))) return place;
  }
  return std::string::npos;
}

// That it names: of csv:FILE,shape=1x8x8 what stands between.
std::string file_of(const StudyEntry& entry) {
  const bool names_one = entry.key == "data" || entry.key == "test-data" || entry.key == "trace";
  if (!names_one) return "";
  const std::string place = entry.value.substr(entry.value.find(':') + 1);
  return place.substr(0, place.find(','));
}

const std::string& value_in(const std::vector<CellOption>& options, const std::string& name) {
  static const std::string none;
  const auto found = std::ranges::find(options, name, &CellOption::name);
  return found == options.end() ? none : found->value;
}

std::string batch_label(const StudyCell& cell) {
  const std::string& trace = cell.option("trace");
  return trace.empty() ? cell.option("batch-size") : std::filesystem::path(trace).stem().string();
}

void append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ",") + item;
}

void append(std::string& list, const CellCoordinate& coordinate) {
  append(list, coordinate.axis + "=" + coordinate.value);
}

// For tables and plots: a variant has a name that says what it is.
void append_to_group(std::string& list, const CellCoordinate& coordinate) {
  if (coordinate.axis == "variant") return append(list, coordinate.value);
  append(list, coordinate);
}

}  // namespace

const std::string& StudyCell::option(const std::string& option_name) const {
  return value_in(options, option_name);
}

const std::string& StudyCell::value(const std::string& option_name) const {
  const std::string& given = option(option_name);
  return given.empty() ? value_in(defaults, option_name) : given;
}

std::vector<std::string> words_of(const StudyCell& cell, const std::filesystem::path& out) {
  std::vector<std::string> words;
  for (const auto& [name, value] : cell.options) words.push_back("--" + name + "=" + value);
  words.insert(words.end(), {"--out", out.string()});
  return words;
}

CellMaker::CellMaker(const StudyFile& study, const OptionTable& train,
                     const std::vector<StudyAxis>& axes, TryCell try_cell)
    : study_(study),
      train_(train),
      axes_(axes),
      try_cell_(std::move(try_cell)),
      base_batch_(base_batch()) {}

StudyCell CellMaker::cell(const std::vector<const AxisValue*>& chosen) {
  StudyCell cell;
  take_coordinates(chosen, cell);
  cell_name_ = cell.name;
  gather(chosen);
  require_name(cell.name);
  take_options(cell);
  cell.batch = batch_label(cell);
  require_run(cell);
  return cell;
}

double CellMaker::positive(const StudyEntry& entry) const {
  const auto number = parse_whole<std::uint64_t>(entry.value);
  if (number && *number > 0) return static_cast<double>(*number);
  throw data::ContentError(place_in(study_.path, entry.line) + entry.key + " " + entry.value +
                           ": expected a whole number from 1");
}

// The smallest that a list or a variant says; a formula there is of no use for it.
std::optional<double> CellMaker::base_batch() const {
  if (study_.base_batch) return positive(*study_.base_batch);
  std::optional<double> smallest;
  for (const auto& axis : axes_) {
    for (const auto& value : axis.values) {
      for (const auto& entry : value.entries) {
        if (entry.key != "batch-size" || !parse_whole<double>(entry.value)) continue;
        const double batch = positive(entry);
        smallest = std::min(smallest.value_or(batch), batch);
      }
    }
  }
  return smallest;
}

void CellMaker::take_coordinates(const std::vector<const AxisValue*>& chosen,
                                 StudyCell& cell) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const CellCoordinate coordinate{axes_[i].name, chosen[i]->label};
    const bool has_its_own_place =
        coordinate.axis == "batch" || coordinate.axis == "trace" || coordinate.axis == "seed";
    append(cell.name, coordinate);
    if (!has_its_own_place) append_to_group(cell.group, coordinate);
    cell.coordinates.push_back(coordinate);
  }
}

// The lines that hold for the cell.
void CellMaker::gather(const std::vector<const AxisValue*>& chosen) {
  entries_.clear();
  for (const auto* value : chosen) {
    entries_.insert(entries_.end(), value->entries.begin(), value->entries.end());
  }
  const std::vector<StudyEntry> decided = entries_;
  for (const auto& entry : study_.common.entries) {
    const Condition& condition = train_.find(entry.key)->only_with;
    const auto rules_out = [&](const StudyEntry& other) {
      const auto& values = condition.values;
      return other.key == condition.option && !values.empty() &&
             std::find(values.begin(), values.end(), other.value) == values.end();
    };
    if (std::none_of(decided.begin(), decided.end(), rules_out)) entries_.push_back(entry);
  }
  if (find("seed") == nullptr) {
    entries_.push_back({.key = "seed", .value = train_.find("seed")->default_value});
  }
}

void CellMaker::take_options(StudyCell& cell) const {
  const Names names = names_of_formulas();
  for (const auto& one : train_.options()) {
    const auto* entry = find(one.name);
    if (entry == nullptr) continue;
    const std::string value = value_of(*entry, one, names);
    try {
      check_value(one, value, one.name);
    } catch (const std::invalid_argument& error) {
      throw data::ContentError(place_in(study_.path, entry->line) + error.what());
    }
    if (one.name == "epochs" && *parse_whole<std::uint64_t>(value) > most_epochs_of_a_seed) {
      throw data::ContentError(place_in(study_.path, entry->line) + "epochs " + value +
                               ": expected at most " + std::to_string(most_epochs_of_a_seed) +
                               ", as far as the seeds of a study are apart");
    }
    cell.options.push_back({one.name, value});
  }
}

void CellMaker::require_name(const std::string& name) const {
  if (name.size() <= longest_name) return;
  throw data::ContentError(place_in(study_.path, std::max<std::size_t>(study_.grid.line, 1)) +
                           "the cell's name " + name.substr(0, 40) + "... has " +
                           std::to_string(name.size()) + " letters, expected at most " +
                           std::to_string(longest_name) +
                           "; give variants and files shorter names");
}

// What `rubato train` would say of the cell's options before it opens the data, and what
// the trial says.
void CellMaker::require_run(StudyCell& cell) const {
  const auto placed = [&](const std::string& complaint) {
    return place_in(study_.path, line_of(complaint)) + complaint + " (in the cell " + cell.name +
           ")";
  };
  try {
    const Options parsed = train_.parse(words_of(cell, "out"));
    for (const auto& one : train_.options()) {
      if (parsed.is_given(one.name) || !parsed.has_value(one.name)) continue;
      cell.defaults.push_back({one.name, one.default_value});
    }
    const auto run = run_from(parsed);
    optim::require_rule_fits(run.rule, run.optimizer.name);
    optim::make_optimizer<float>(run.optimizer);
    const optim::LearningRateSchedule is_valid(run.schedule);
    if (try_cell_) cell.trial_seconds = try_cell_(run);
  } catch (const data::MissingFileError& error) {
    cell.why_not_tried = placed(error.what());
  } catch (const data::ContentError& error) {  // of a file of its own, with a line there
    throw data::ContentError(error.what() + (" (in the cell " + cell.name + ")"));
  } catch (const std::invalid_argument& error) {
    throw data::ContentError(placed(error.what()));
  }
}

const StudyEntry* CellMaker::find(const std::string& key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return entry.key == key; });
  return found == entries_.end() ? nullptr : &*found;
}

CellMaker::Names CellMaker::names_of_formulas() const {
  Names names;
  if (base_batch_) names["base_batch"] = *base_batch_;
  const auto* entry = find("batch-size");
  if (entry == nullptr) return names;
  const auto batch = parse_whole<double>(value_of(*entry, *train_.find("batch-size"), names));
  if (!batch || *batch <= 0) return names;  // check_value() says so
  names["batch"] = *batch;
  names["base_batch"] = base_batch_.value_or(*batch);
  names["k"] = *batch / names["base_batch"];
  return names;
}

// As it stands, or what its formula comes to.
std::string CellMaker::value_of(const StudyEntry& entry, const Option& option,
                                const Names& names) const {
  const bool is_integer = option.kind == OptionKind::integer;
  const bool is_number = is_integer || option.kind == OptionKind::number;
  if (!is_number || parse_whole<double>(entry.value)) return entry.value;
  try {
    const double value = value_of_formula(entry.value, names);
    if (is_integer && !is_whole(value)) {
      throw FormulaError(0, "comes to " + text_of(value) + ", expected a whole number");
    }
    return text_of(value);
  } catch (const FormulaError& error) {
    const std::string clause = error.what();
    const bool lacks_batch =
        !names.contains("k") && clause.find("unknown name") != std::string::npos;
    throw data::ContentError(place_in(study_.path, entry.line) + "column " +
                             std::to_string(entry.column + error.column()) + ": " + entry.key +
                             " = " + data::in_quotes(entry.value) + " " + clause +
                             (lacks_batch ? "; k and batch need a batch-size" : "") +
                             " (in the cell " + cell_name_ + ")");
  }
}

// Of the option that a complaint names first, or whose file; of the grid if of none of the file's.
std::size_t CellMaker::line_of(const std::string& complaint) const {
  std::size_t line = study_.grid.line;
  std::size_t first = std::string::npos;
  for (const auto& entry : entries_) {
    const std::string file = file_of(entry);
    const auto place = std::min(place_of_word(complaint, entry.key),
                                file.empty() ? std::string::npos : complaint.find(file));
    if (place >= first || entry.line == 0) continue;
    first = place;
    line = entry.line;
  }
  return std::max<std::size_t>(line, 1);
}

}  // namespace rubato::app
