// Written event by event, because there may be hundreds of thousands. Numbers of processes and
// threads begin at 1: 0 is the idle process to some readers.
#include "runtime/timeline_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/version.hpp"

namespace rubato::runtime {

namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(std::int64_t nanoseconds) {
  std::array<char, 32> text{};
  const long long whole = nanoseconds / 1000;
  const int rest = static_cast<int>(std::abs(nanoseconds % 1000));
  const char* const sign = nanoseconds < 0 && whole == 0 ? "-" : "";
  std::snprintf(text.data(), text.size(), "%s%lld.%03d", sign, whole, rest);
  return text.data();
}

// The phases in which an update goes forward, as against what comes between two.
bool is_of_update(Phase phase) { return phase >= Phase::loading_data && phase <= Phase::waiting; }

// The end of the update that begins with the first of these.
std::size_t end_of_update(std::span<const TimelineSpan> spans) {
  std::size_t end = 0;
  while (end < spans.size() && is_of_update(spans[end].phase) &&
         spans[end].update == spans[0].update) {
    ++end;
  }
  return end;
}

}  // namespace

struct TimelineText::Row {
  std::size_t process = 0;
  std::size_t thread = 0;
};

TimelineText::TimelineText(TimelineFacts facts, std::map<std::uint64_t, TimelineUpdate> updates)
    : facts_(std::move(facts)), updates_(std::move(updates)), text_("{\"traceEvents\":[") {
  for (std::size_t host = 0; host < facts_.hosts.size(); ++host) {
    name("process_name", {host + 1, 0}, facts_.hosts[host]);
  }
}

void TimelineText::begin_event() { text_ += text_.back() == '[' ? "\n" : ",\n"; }

void TimelineText::name(const char* kind, const Row& row, const std::string& name) {
  begin_event();
  text_ += std::string("{\"ph\":\"M\",\"name\":\"") + kind +
           "\",\"pid\":" + std::to_string(row.process) + ",\"tid\":" + std::to_string(row.thread) +
           ",\"args\":{\"name\":" + quoted(name) + "}}";
}

void TimelineText::event(const Row& row, const std::string& name, const char* category,
                         std::int64_t begin, std::int64_t end, std::uint64_t update) {
  begin_event();
  text_ += "{\"ph\":\"X\",\"name\":\"" + name + "\",\"cat\":\"" + category +
           "\",\"pid\":" + std::to_string(row.process) + ",\"tid\":" + std::to_string(row.thread) +
           ",\"ts\":" + microseconds(begin) + ",\"dur\":" + microseconds(end - begin) +
           ",\"args\":{\"update\":" + std::to_string(update);
  if (const auto found = updates_.find(update); found != updates_.end()) {
    text_ += ",\"batch_size\":" + std::to_string(found->second.batch_size) +
             ",\"minibatches\":" + std::to_string(found->second.minibatches);
  }
  text_ += "}}";
}

void TimelineText::add_rank(std::size_t rank, std::size_t host,
                            std::span<const TimelineSpan> spans) {
  const Row row{host + 1, rank + 1};
  name("thread_name", row, "rank " + std::to_string(rank));
  std::size_t update_end = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TimelineSpan& span = spans[i];
    if (i >= update_end && span.phase == Phase::loading_data) {
      update_end = i + end_of_update(spans.subspan(i));
      event(row, "update " + std::to_string(span.update), "update", span.begin,
            spans[update_end - 1].end, span.update);
    }
    event(row, name_of(span.phase), "phase", span.begin, span.end, span.update);
  }
}

void TimelineText::add_transfers(std::size_t rank, std::size_t host,
                                 std::span<const TimelineTransfer> transfers) {
  if (transfers.empty()) return;
  const Row row{host + 1, facts_.ranks + 2 + rank};
  name("thread_name", row, "network of rank " + std::to_string(rank));
  for (const TimelineTransfer& each : transfers) {
    event(row, "sum over hosts", "network", each.begin, each.end, each.update);
  }
}

void TimelineText::add_checkpoints(std::span<const TimelineCheckpoint> checkpoints) {
  if (checkpoints.empty()) return;
  const Row row{1, facts_.ranks + 1};
  name("thread_name", row, "checkpoint writer");
  for (const TimelineCheckpoint& each : checkpoints) {
    event(row, "checkpoint " + std::to_string(each.update), "checkpoint", each.begin, each.written,
          each.update);
    event(row, "encoding", "checkpoint", each.begin, each.encoded, each.update);
    event(row, "writing", "checkpoint", each.encoded, each.written, each.update);
  }
}

std::string TimelineText::finish() && {
  nlohmann::ordered_json facts{{"program", "rubato " + std::string(version)},
                               {"ranks", facts_.ranks},
                               {"hosts", facts_.hosts},
                               {"clock_error_seconds", facts_.clock_error}};
  facts["contents"] =
      facts_.is_complete
          ? "the whole run"
          : "the last phases of a longer run, from update " + std::to_string(facts_.first_update) +
                " on: " + std::to_string(facts_.capacity) + " phases of each rank are kept";
  text_ += "\n],\"displayTimeUnit\":\"ms\",\"otherData\":" +
           facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "}\n";
  return std::move(text_);
}

}  // namespace rubato::runtime
