// See run_comparison.hpp. The two metrics files are read side by side: the memory of one line each.
#include "app/run_comparison.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/checkpoint_diff.hpp"
#include "app/checkpoint_files.hpp"
#include "data/errors.hpp"
#include "runtime/training_state.hpp"

namespace rubato::app {
namespace {

using nlohmann::json;

// The lines that tell of the run's course, without the seconds that they took.
class Course {
 public:
  explicit Course(const std::filesystem::path& directory)
      : path_((directory / "metrics.jsonl").string()), in_(path_) {
    if (!in_) throw data::MissingFileError(path_ + ": cannot be read");
  }

  std::optional<json> next() {
    for (std::string line; std::getline(in_, line);) {
      json found = json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (!found.is_object()) throw data::ContentError(path_ + ": not a line of JSON: " + line);
      const auto type = found.value("type", "");
      if (type != "update" && type != "epoch" && type != "eval") continue;
      found.erase("seconds");
      found.erase("imbalance");
      return found;
    }
    return std::nullopt;
  }

 private:
  std::string path_;
  std::ifstream in_;
};

// "update 7", "eval after update 7", "epoch 2"
std::string place_of(const json& line) {
  const auto type = line.value("type", "");
  const std::string number = type == "epoch" ? "epoch" : "update";
  return (type == "eval" ? "eval after " : "") + number + " " +
         std::to_string(line.value(number, std::uint64_t{0}));
}

std::string end_or(const std::optional<json>& line) {
  return line ? place_of(*line) : "the end of metrics.jsonl";
}

std::string field_text(const json& line, const std::string& field) {
  return line.contains(field) ? line[field].dump() : "nothing";
}

// Empty if the lines are equal.
std::string difference(const std::optional<json>& straight, const std::optional<json>& killed) {
  if (straight == killed) return {};
  if (!straight || !killed || place_of(*straight) != place_of(*killed)) {
    return end_or(straight) + " in the straight run stands against " + end_or(killed) +
           " in the killed run";
  }
  json all = *straight;
  all.update(*killed);
  for (const auto& item : all.items()) {
    const auto first = field_text(*straight, item.key());
    const auto second = field_text(*killed, item.key());
    if (first == second) continue;
    return place_of(*straight) + ": " + item.key() + " is " + first + " in the straight run, " +
           second + " in the killed run";
  }
  return {};
}

// That the updates are 1, 2, 3, ...; what else stands between them is only compared.
std::string out_of_order(const json& line, std::uint64_t updates_before) {
  const auto update = line.value("update", std::uint64_t{0});
  if (line.value("type", "") != "update" || update == updates_before + 1) return {};
  return "update " + std::to_string(update) + " follows update " + std::to_string(updates_before) +
         " in both runs";
}

std::string compare_courses(const std::filesystem::path& straight_run,
                            const std::filesystem::path& killed_run, RunComparison& comparison) {
  Course straight(straight_run);
  Course killed(killed_run);
  while (true) {
    const auto first = straight.next();
    const auto found = difference(first, killed.next());
    if (!found.empty() || !first) return found;
    auto disorder = out_of_order(*first, comparison.update_lines);
    if (!disorder.empty()) return disorder;
    const auto type = first->value("type", "");
    comparison.update_lines += type == "update" ? 1U : 0U;
    comparison.epoch_lines += type == "epoch" ? 1U : 0U;
    comparison.evaluation_lines += type == "eval" ? 1U : 0U;
  }
}

std::string compare_states(const runtime::TrainingState& straight,
                           const runtime::TrainingState& killed) {
  const auto found = differences(straight, killed);
  if (found.empty()) return {};
  return "the last checkpoints: " + found[0].part + " " + found[0].name + ": " +
         found[0].description + " (A: straight, B: killed)";
}

RunEvidence evidence_of(const runtime::TrainingState& state) {
  return {
      .updates = state.cursor.update, .digest = runtime::state_digest(state), .audit = state.audit};
}

}  // namespace

RunComparison compare_runs(const std::filesystem::path& straight,
                           const std::filesystem::path& killed) {
  const auto first = read_newest(straight);
  const auto second = read_newest(killed);
  RunComparison comparison{.straight = evidence_of(first.checkpoint.state),
                           .killed = evidence_of(second.checkpoint.state)};
  auto found = compare_courses(straight, killed, comparison);
  if (found.empty()) found = compare_states(first.checkpoint.state, second.checkpoint.state);
  if (found.empty() && comparison.straight.digest != comparison.killed.digest) {
    found = "the digests of the last checkpoints";
  }
  if (found.empty() && comparison.update_lines != comparison.straight.updates) {
    found = "metrics.jsonl ends with update " + std::to_string(comparison.update_lines) +
            ", the last checkpoint is of update " + std::to_string(comparison.straight.updates) +
            ", in both runs";
  }
  comparison.first_difference = found;
  return comparison;
}

}  // namespace rubato::app
