// See run_progress.hpp. Of metrics.jsonl only the end is read: it may be long.
#include "app/run_progress.hpp"

#include <algorithm>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/state_file.hpp"

namespace rubato::app {
namespace {

constexpr std::streamoff tail_bytes = 64 << 10;

std::uint64_t update_of(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("type", "") != "update") return 0;
  const auto field = json.find("update");
  return field != json.end() && field->is_number_unsigned() ? field->get<std::uint64_t>() : 0;
}

std::uint64_t last_in_metrics(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return 0;
  const std::streamoff size = in.tellg();
  in.seekg(std::max(std::streamoff{0}, size - tail_bytes));
  std::uint64_t last = 0;
  for (std::string line; std::getline(in, line);) last = std::max(last, update_of(line));
  return last;
}

std::optional<runtime::RunStatus> status_of(const std::filesystem::path& directory) {
  try {
    return runtime::read_status(directory);
  } catch (const std::exception&) {  // not there, or not whole: nothing is known from it
    return std::nullopt;
  }
}

}  // namespace

std::uint64_t last_update(const std::filesystem::path& directory) {
  const auto status = status_of(directory);
  return std::max(last_in_metrics(directory / "metrics.jsonl"), status ? status->update : 0);
}

std::optional<std::uint64_t> total_updates(const std::filesystem::path& directory) {
  const auto status = status_of(directory);
  return status ? status->total_updates : std::nullopt;
}

std::optional<std::string> stop_reason(const std::filesystem::path& directory) {
  const auto status = status_of(directory);
  if (!status || status->state != runtime::RunState::preempted) return std::nullopt;
  return status->reason;
}

std::function<bool()> end_notice(const std::filesystem::path& directory) {
  return [directory, before = status_of(directory)] {
    const auto now = status_of(directory);
    if (!now) return false;
    if (now->state == runtime::RunState::finished) return true;
    return now->state == runtime::RunState::preempted && now != before;
  };
}

}  // namespace rubato::app
