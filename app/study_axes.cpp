// See study_axes.hpp.
#include "app/study_axes.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/errors.hpp"

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

void require_values(const StudyAxis& axis, const StudyEntry& list, const std::string& path) {
  if (!axis.values.empty()) return;
  throw data::ContentError(place_in(path, list.line) + list.key + ": the list of values is empty");
}

void require_different(const StudyAxis& axis, const std::string& path) {
  for (auto value = axis.values.begin(); value != axis.values.end(); ++value) {
    const auto is_same = [&](const AxisValue& other) { return other.label == value->label; };
    if (std::find_if(axis.values.begin(), value, is_same) == value) continue;
    const std::size_t line = value->entries.empty() ? std::size_t{1} : value->entries[0].line;
    throw data::ContentError(place_in(path, line) + axis.name + ": " + value->label +
                             " stands twice in the list; cells need names of their own");
  }
}

StudyAxis axis_of(const StudyEntry& list, const OptionTable& train) {
  StudyAxis axis{.name = list.key == "batch-size" ? "batch" : list.key, .values = {}};
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
    auto axis = axis_of(list, train);
    require_values(axis, list, study.path);
    axis.name == "seed" ? std::swap(seeds, axis) : axes.push_back(std::move(axis));
  }
  StudyAxis variants{.name = "variant", .values = {}};
  for (const auto& variant : study.variants) {
    variants.values.push_back({.label = safe(variant.name), .entries = variant.entries});
  }
  for (auto* axis : {&variants, &seeds}) {
    if (!axis->values.empty()) axes.push_back(std::move(*axis));
  }
  for (const auto& axis : axes) require_different(axis, study.path);
  return axes;
}

std::vector<StudyEntry> values_of(const StudyEntry& list, OptionKind kind) {
  const std::string separators = kind == OptionKind::text ? " \t" : " \t,";
  std::vector<StudyEntry> values;
  const std::string& text = list.value;
  for (std::size_t begin = text.find_first_not_of(separators); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
    const bool has_comma = text[end - 1] == ',';
    values.push_back({.key = list.key,
                      .value = text.substr(begin, end - begin - (has_comma ? 1 : 0)),
                      .line = list.line,
                      .column = list.column + begin});
    begin = text.find_first_not_of(separators, end);
  }
  return values;
}

}  // namespace rubato::app
