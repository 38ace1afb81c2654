// See evaluation_history.hpp.
#include "app/evaluation_history.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/metrics_lines.hpp"
#include "data/errors.hpp"

namespace rubato::app {
namespace {

using Json = nlohmann::ordered_json;

// What is not finite is written as null.
std::optional<double> number_of(const Json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) return std::nullopt;
  if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<PastEvaluation> evaluation_of(const Json& line) {
  if (line.is_null()) return std::nullopt;
  const auto update = line.find("update");
  const auto epoch = number_of(line, "epoch");
  const auto loss = number_of(line, "loss");
  const auto accuracy = number_of(line, "accuracy");
  const bool is_whole =
      update != line.end() && update->is_number_unsigned() && epoch && loss && accuracy;
  if (!is_whole) return std::nullopt;
  return PastEvaluation{update->get<std::uint64_t>(), *epoch, *loss, *accuracy};
}

}  // namespace

std::vector<PastEvaluation> evaluation_history(const std::filesystem::path& metrics) {
  MetricsLines lines(metrics);
  if (!lines.is_open()) throw data::MissingFileError("cannot open " + metrics.string());
  std::vector<PastEvaluation> history;
  while (lines.next()) {
    if (!lines.is_of("eval")) continue;
    const auto evaluation = evaluation_of(lines.object());
    if (!evaluation) {
      throw data::ContentError(metrics.string() + ":" + std::to_string(lines.number()) +
                               ": found \"" + lines.text().substr(0, 60) +
                               "\", expected update, epoch, loss and accuracy of an evaluation");
    }
    history.push_back(*evaluation);
  }
  return history;
}

}  // namespace rubato::app
