// See study_axes.hpp.
#include "app/study_axes.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/option_value.hpp"
#include "data/errors.hpp"
#include "data/in_quotes.hpp"

namespace rubato::app {
namespace {

// It becomes part of a directory's name and of a list with commas.
std::string safe(std::string text) {
  const auto is_safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '+' || c == '_';
  };
  std::replace_if(
      text.begin(), text.end(), [&](char c) { return !is_safe(c); }, '_');
  return text;
}

std::string label_of(const StudyEntry& value) {
  const bool is_file = value.key == "trace";
  return safe(is_file ? std::filesystem::path(value.value).stem().string() : value.value);
}

// Two commas, or one at the beginning: a value was forgotten, or is yet to be written.
void require_no_gap(const StudyEntry& list, const std::string& path) {
  bool has_value = false;
  for (const char c : list.value) {
    if (c == ' ' || c == '\t') continue;
    if (c == ',' && !has_value) {
      throw data::ContentError(place_in(path, list.line) + list.key + " = " +
                               data::in_quotes(list.value) + ": a comma without a value before it");
    }
    has_value = c != ',';
  }
}

bool is_number(const Option* option) {
  return option != nullptr &&
         (option->kind == OptionKind::integer || option->kind == OptionKind::number);
}

// Numbers are the same however they are written.
bool are_same(const AxisValue& one, const AxisValue& other, bool as_numbers) {
  if (!as_numbers) return one.label == other.label;
  const auto number = parse_whole<double>(one.label);
  return one.label == other.label || (number && number == parse_whole<double>(other.label));
}

// `option` is none for variants.
void require_different(const StudyAxis& axis, const Option* option, const std::string& path) {
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    const auto is_same = [&](const AxisValue& other) {
      return are_same(other, *value, is_number(option));
    };
    const auto first = std::find_if(axis.values.begin(), value, is_same);
    if (first == value) continue;
    const std::size_t line = value->entries.empty() ? std::size_t{1} : value->entries[0].line;
    const std::string how =
        first->label == value->label ? " stands twice in the list" : " is " + first->label;
    throw data::ContentError(place_in(path, line) + axis.name + ": " + value->label + how +
                             "; cells need names of their own");
  }
}

StudyAxis axis_of(const StudyEntry& list, const OptionTable& train, const std::string& path) {
  StudyAxis axis{.name = list.key == "batch-size" ? "batch" : list.key, .values = {}};
  require_no_gap(list, path);
  for (auto& value : values_of(list, train.find(list.key)->kind)) {
    axis.values.push_back({.label = label_of(value), .entries = {value}});
  }
  return axis;
}

}  // namespace

std::vector<StudyAxis> axes_of(const StudyFile& study, const OptionTable& train) {
  std::vector<StudyAxis> axes;
  StudyAxis seeds;
  for (const auto& list : study.grid.entries) {
    auto axis = axis_of(list, train, study.path);
    require_different(axis, train.find(list.key), study.path);
    axis.name == "seed" ? std::swap(seeds, axis) : axes.push_back(std::move(axis));
  }
  StudyAxis variants{.name = "variant", .values = {}};
  for (const auto& variant : study.variants) {
    variants.values.push_back({.label = safe(variant.name), .entries = variant.entries});
  }
  require_different(variants, nullptr, study.path);
  for (auto* axis : {&variants, &seeds}) {
    if (!axis->values.empty()) axes.push_back(std::move(*axis));
  }
  return axes;
}

std::vector<StudyEntry> values_of(const StudyEntry& list, OptionKind kind) {
  const bool may_have_commas = kind == OptionKind::text && list.key != "trace";
  const std::string separators = may_have_commas ? " \t" : " \t,";
  std::vector<StudyEntry> values;
  const std::string& text = list.value;
  for (std::size_t begin = text.find_first_not_of(separators); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const std::size_t size = end - begin - (text[end - 1] == ',' ? 1 : 0);
    if (size > 0) {  // else a comma that stands alone
      values.push_back({.key = list.key,
                        .value = text.substr(begin, size),
                        .line = list.line,
                        .column = list.column + begin});
    }
    begin = text.find_first_not_of(separators, end);
  }
  return values;
}

}  // namespace rubato::app
