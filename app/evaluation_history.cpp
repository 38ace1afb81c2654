// A run has thousands of updates to an evaluation: lines are told apart by how they begin, as
// MetricsFile writes them, and only evaluations are parsed.
#include "app/evaluation_history.hpp"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/errors.hpp"

namespace rubato::app {
namespace {

using nlohmann::json;

// What is not finite is written as null.
std::optional<double> number_of(const json& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) return std::nullopt;
  if (found->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<PastEvaluation> evaluation_of(const std::string& text) {
  const json line = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return std::nullopt;
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
  std::ifstream in(metrics, std::ios::binary);
  if (!in) throw data::MissingFileError("cannot open " + metrics.string());
  std::vector<PastEvaluation> history;
  std::uint64_t number = 0;
  for (std::string line; std::getline(in, line) && !in.eof();) {
    ++number;
    if (!line.starts_with(R"({"type":"eval")")) continue;
    const auto evaluation = evaluation_of(line);
    if (!evaluation) {
      throw data::ContentError(metrics.string() + ":" + std::to_string(number) + ": found \"" +
                               line.substr(0, 60) +
                               "\", expected update, epoch, loss and accuracy of an evaluation");
    }
    history.push_back(*evaluation);
  }
  return history;
}

}  // namespace rubato::app
