// See checkpoint_list.hpp.
#include "app/checkpoint_list.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace rubato::app {
namespace {

// The sentence of the problem without the file's name, which the table has beside it.
std::string reason_of(const CheckpointFile& file) {
  const std::string name = file.file.string() + ": ";
  return file.problem.rfind(name, 0) == 0 ? file.problem.substr(name.size()) : file.problem;
}

}  // namespace

std::string condition_of(const CheckpointFile& file) {
  if (file.problem.empty()) return "good";
  return file.has_checksum ? "damaged: " + reason_of(file) : "no checksum";
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return std::to_string(bytes) + " B";
  double size = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  while (size >= 999.95 && unit + 1 < units.size()) {
    size /= 1000;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << size << ' ' << units[unit];
  return text.str();
}

std::string time_text(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  std::ostringstream text;
  text << std::put_time(&parts, "%Y-%m-%d %H:%M:%SZ");
  return text.str();
}

std::string age_text(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(seconds, 0);
  if (seconds < 60) return std::to_string(seconds) + " s";
  if (seconds < 3600) return std::to_string(seconds / 60) + " min";
  if (seconds < 48 * 3600) return std::to_string(seconds / 3600) + " h";
  return std::to_string(seconds / (24 * 3600)) + " d";
}

void list_as_table(std::ostream& out, std::span<const CheckpointFile> files,
                   std::int64_t now_unix_seconds) {
  out << std::setw(10) << "update" << std::setw(8) << "epoch" << std::setw(14) << "samples"
      << std::setw(11) << "size" << std::setw(22) << "written" << std::setw(8) << "age"
      << "  state\n";
  for (const CheckpointFile& file : files) {
    const bool is_good = file.state.has_value();
    const auto number = [&](std::uint64_t value) {
      return is_good ? std::to_string(value) : std::string("-");
    };
    const data::Cursor cursor = is_good ? file.state->cursor : data::Cursor{};
    out << std::setw(10) << number(cursor.update) << std::setw(8) << number(cursor.epoch)
        << std::setw(14) << number(cursor.samples) << std::setw(11) << size_text(file.bytes)
        << std::setw(22) << time_text(file.written_unix_seconds) << std::setw(8)
        << age_text(now_unix_seconds - file.written_unix_seconds) << "  ";
    if (!is_good) out << file.file.filename().string() << ": ";
    out << condition_of(file) << '\n';
  }
}

void list_as_json(std::ostream& out, std::span<const CheckpointFile> files) {
  auto list = nlohmann::ordered_json::array();
  for (const CheckpointFile& file : files) {
    nlohmann::ordered_json entry{{"file", file.file.string()},
                                 {"bytes", file.bytes},
                                 {"written", time_text(file.written_unix_seconds)},
                                 {"good", file.state.has_value()},
                                 {"has_checksum", file.has_checksum}};
    if (file.state) {
      entry["update"] = file.state->cursor.update;
      entry["epoch"] = file.state->cursor.epoch;
      entry["samples"] = file.state->cursor.samples;
      entry["digest"] = runtime::state_digest(*file.state);
    } else {
      entry["problem"] = file.problem;
    }
    list.push_back(std::move(entry));
  }
  out << list.dump(1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace rubato::app
