// See study_results.hpp.
#include "app/study_results.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/option_value.hpp"

namespace rubato::app {
namespace {

using Json = nlohmann::ordered_json;
using Evaluation = std::optional<CellEvaluation>;

// The first of those that are closest.
Evaluation closest_to(double accuracy, const CellCourse& course) {
  const auto distance = [&](const CellEvaluation& one) {
    return std::abs(one.accuracy - accuracy);
  };
  Evaluation found;
  for (const auto& one : course.evaluations) {
    if (!has_outcome(one)) continue;
    if (!found || distance(one) < distance(*found)) found = one;
  }
  return found;
}

CellResult result_of(const StudyCell& cell, const CellCourse& course) {
  CellResult result{.cell = cell,
                    .has_diverged = course.state == CellState::diverged,
                    .updates = course.updates,
                    .training_seconds = course.training_seconds};
  result.best = best_of(course);
  if (!course.evaluations.empty()) result.last = course.evaluations.back();
  return result;
}

// The mean of the best accuracies; none where no seed came to its end.
std::optional<double> mean_of_best(const StudyResults& results, const std::string& group,
                                   const std::string& batch) {
  double sum = 0;
  int count = 0;
  for (const auto& result : results.cells) {
    const bool counts = result.cell.group == group && result.cell.batch == batch;
    if (!counts || result.has_diverged || !result.best) continue;
    sum += result.best->accuracy;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

std::optional<Baseline> baseline_of(const StudyResults& results, const std::string& group) {
  std::optional<Baseline> baseline;
  for (const auto& result : results.cells) {
    if (result.cell.group != group) continue;
    const auto mean = mean_of_best(results, group, result.cell.batch);
    if (!mean || (baseline && *mean <= baseline->accuracy)) continue;
    baseline = Baseline{.group = group, .batch = result.cell.batch, .accuracy = *mean};
  }
  return baseline;
}

// -- as text

// What is not finite, or not there, is nothing.
Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string in_csv(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  const auto text = value.get<std::string>();
  return text.find(',') == std::string::npos ? text : "\"" + text + "\"";
}

Json as_number_if_one(const std::string& text) {
  if (const auto whole = parse_whole<std::uint64_t>(text)) return *whole;
  const auto value = parse_whole<double>(text);
  return value && std::isfinite(*value) ? Json(*value) : Json(text);
}

Json as_json(const Evaluation& evaluation) {
  if (!evaluation) return nullptr;
  return {{"accuracy", number_or_null(evaluation->accuracy)},
          {"loss", number_or_null(evaluation->loss)},
          {"update", evaluation->update},
          {"epoch", number_or_null(evaluation->epoch)}};
}

Json rate_of(const StudyCell& cell) {
  const std::string& rate = cell.value("lr");
  return rate.empty() ? Json(nullptr) : as_number_if_one(rate);
}

Json seconds_of(const Evaluation& evaluation) {
  return evaluation ? number_or_null(evaluation->seconds) : Json(nullptr);
}

Json times_of(const CellResult& result) {
  return {{"training_seconds", result.training_seconds},
          {"seconds_to_best", seconds_of(result.best)},
          {"seconds_to_closest", seconds_of(result.closest)}};
}

Json as_json(const CellResult& result) {
  Json json{{"cell", result.cell.name}};
  for (const auto& [axis, value] : result.cell.coordinates) json[axis] = as_number_if_one(value);
  json["state"] = result.has_diverged ? "diverged" : "finished";
  json["updates_done"] = result.updates;
  json["best"] = as_json(result.best);
  json["closest"] = as_json(result.closest);
  json["last"] = as_json(result.last);
  for (const auto& [name, value] : result.cell.options) json["options"][name] = value;
  json["times"] = times_of(result);
  return json;
}

// "best_accuracy" and so on, for what as_json() nests; of the options, the rate.
Json as_row(const CellResult& result) {
  Json row;
  const Json json = as_json(result);
  for (const auto& [key, value] : json.items()) {
    if (key == "options") continue;
    if (key == "state" && !row.contains("lr")) row["lr"] = rate_of(result.cell);
    if (key == "best" || key == "closest" || key == "last") {
      for (const char* field : {"accuracy", "loss", "update", "epoch"}) {
        row[key + "_" + field] = value.is_null() ? Json(nullptr) : value[field];
      }
    } else if (key == "times") {
      row.update(value);
    } else {
      row[key] = value;
    }
  }
  return row;
}

}  // namespace

StudyResults results_of(const std::string& name, const std::vector<StudyCell>& cells,
                        const std::vector<CellCourse>& courses) {
  StudyResults results{.name = name};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (courses[i].is_over()) results.cells.push_back(result_of(cells[i], courses[i]));
  }
  if (!cells.empty()) results.baseline = baseline_of(results, cells[0].group);
  if (!results.baseline) return results;
  std::size_t next = 0;
  for (const auto& course : courses) {
    if (!course.is_over()) continue;
    results.cells[next++].closest = closest_to(results.baseline->accuracy, course);
  }
  return results;
}

std::string results_as_csv(const StudyResults& results) {
  std::string text;
  for (const auto& result : results.cells) {
    std::vector<std::string> heading;
    std::vector<std::string> fields;
    const Json row = as_row(result);
    for (const auto& [name, value] : row.items()) {
      heading.push_back(name);
      fields.push_back(in_csv(value));
    }
    if (text.empty()) text = joined(heading, ",") + "\n";
    text += joined(fields, ",") + "\n";
  }
  return text;
}

std::string results_as_json(const StudyResults& results) {
  Json document{{"study", results.name}, {"baseline", nullptr}, {"cells", Json::array()}};
  if (const auto& baseline = results.baseline) {
    document["baseline"] = {{"group", baseline->group},
                            {"batch", as_number_if_one(baseline->batch)},
                            {"accuracy", baseline->accuracy}};
  }
  for (const auto& result : results.cells) document["cells"].push_back(as_json(result));
  return document.dump(2) + "\n";
}

}  // namespace rubato::app
