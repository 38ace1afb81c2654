// See launch_events.hpp.
#include "app/launch_events.hpp"

#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/errors.hpp"
#include "runtime/utc_time.hpp"

namespace rubato::app {
namespace {

std::string reason() { return std::generic_category().message(errno); }

double in_milliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

std::string line_for_people(const LaunchEvent& event) {
  std::string text = event.name + ": ";
  if (event.ranks > 0)
    text += std::to_string(event.ranks) + (event.ranks == 1 ? " rank, " : " ranks, ");
  text += "update " + std::to_string(event.update);
  if (!event.reason.empty()) text += ", " + event.reason;
  return text;
}

}  // namespace

LaunchEvents::LaunchEvents(const std::filesystem::path& directory, std::ostream& people)
    : path_(directory / "events.jsonl"), file_(nullptr, std::fclose), people_(people) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (!file_) throw runtime::OutputError("cannot write to " + path_.string() + ": " + reason());
}

void LaunchEvents::add(const LaunchEvent& event) {
  const std::chrono::duration<double> passed = Clock::now() - begin_;
  nlohmann::ordered_json line{
      {"time", runtime::utc_time()}, {"seconds", in_milliseconds(passed.count())},
      {"event", event.name},         {"ranks", event.ranks},
      {"update", event.update},      {"capacity", event.capacity}};
  if (!event.reason.empty()) line["reason"] = event.reason;
  if (event.exit_code) line["exit_code"] = *event.exit_code;
  if (event.delay_seconds) line["delay_seconds"] = *event.delay_seconds;
  say(line_for_people(event));
  const std::string text = line.dump() + "\n";
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
                          std::fflush(file_.get()) == 0;
  if (!is_written && is_written_)
    say("warning: cannot write to " + path_.string() + ": " + reason());
  is_written_ = is_written;
}

void LaunchEvents::say(const std::string& sentence) {
  people_ << "rubato launch: " + sentence + "\n" << std::flush;
}

}  // namespace rubato::app
