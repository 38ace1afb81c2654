// What travels of a rank: the number of its host and of its spans, these as four numbers each, and
// its sums over the network, as three.
#include "runtime/run_timeline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "collectives/collect.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::runtime {

namespace {

constexpr std::size_t most_phases = std::size_t{1} << 18U;  // of all ranks
constexpr std::size_t most_of_a_rank = std::size_t{1} << 16U;
constexpr std::size_t least_of_a_rank = std::size_t{1} << 6U;
constexpr std::size_t most_checkpoints = 1000;

std::size_t capacity_for(std::size_t ranks) {
  return std::clamp(most_phases / ranks, least_of_a_rank, most_of_a_rank);
}

// What would fail at the end fails here, and leaves nothing.
void require_writable(const std::filesystem::path& file) {
  const std::string sentence = "the timeline cannot be written: ";
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!file.has_filename() || std::filesystem::is_directory(status)) {
    throw OutputError(sentence + file.string() + " is a directory");
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw OutputError(sentence + file.string() + " is no ordinary file");
  }
  try {
    const Directory directory(directory_of(file));
    const TemporaryFile trial(directory, file.filename().string(), 1);
  } catch (const WriteError& failure) {
    throw OutputError(sentence + failure.what());
  }
}

std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(1e9 * seconds); }

std::vector<std::int64_t> packed(std::size_t host, const std::vector<TimelineSpan>& spans,
                                 const std::vector<TimelineTransfer>& transfers) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(host),
                                    static_cast<std::int64_t>(spans.size())};
  numbers.reserve(2 + 4 * spans.size() + 3 * transfers.size());
  for (const TimelineSpan& span : spans) {
    numbers.insert(numbers.end(), {span.begin, span.end, static_cast<std::int64_t>(span.update),
                                   static_cast<std::int64_t>(span.phase)});
  }
  for (const TimelineTransfer& transfer : transfers) {
    numbers.insert(numbers.end(),
                   {transfer.begin, transfer.end, static_cast<std::int64_t>(transfer.update)});
  }
  return numbers;
}

struct RankRow {
  std::size_t host = 0;
  std::vector<TimelineSpan> spans;
  std::vector<TimelineTransfer> transfers;
};

RankRow unpacked(std::span<const std::int64_t> numbers, std::int64_t origin) {
  RankRow row;
  row.host = static_cast<std::size_t>(numbers[0]);
  std::size_t i = 2;
  for (const std::size_t end = i + 4 * static_cast<std::size_t>(numbers[1]); i < end; i += 4) {
    row.spans.push_back({numbers[i] - origin, numbers[i + 1] - origin,
                         static_cast<std::uint64_t>(numbers[i + 2]),
                         static_cast<Phase>(numbers[i + 3])});
  }
  for (; i < numbers.size(); i += 3) {
    row.transfers.push_back(
        {numbers[i] - origin, numbers[i + 1] - origin, static_cast<std::uint64_t>(numbers[i + 2])});
  }
  return row;
}

}  // namespace

std::int64_t on_rank_0(std::int64_t time, const ClockMark& first, const ClockMark& last) {
  const auto drift = static_cast<double>(last.offset.nanoseconds - first.offset.nanoseconds);
  const auto between = static_cast<double>(std::max<std::int64_t>(last.time - first.time, 1));
  const double part = static_cast<double>(time - first.time) / between;
  return time - first.offset.nanoseconds - static_cast<std::int64_t>(drift * part);
}

std::vector<TimelineSpan> aligned_spans(std::span<const TimelineEntry> entries,
                                        const ClockMark& first, const ClockMark& last) {
  const std::int64_t end = on_rank_0(last.time, first, last);
  std::vector<TimelineSpan> spans;
  for (const TimelineEntry& entry : entries) {
    const std::int64_t begin = on_rank_0(entry.begin, first, last);
    if (!spans.empty()) spans.back().end = begin;
    spans.push_back({begin, end, entry.update, entry.phase});
  }
  return spans;
}

std::vector<TimelineTransfer> aligned_transfers(std::vector<TimelineTransfer> transfers,
                                                const ClockMark& first, const ClockMark& last) {
  for (TimelineTransfer& transfer : transfers) {
    transfer.begin = on_rank_0(transfer.begin, first, last);
    transfer.end = on_rank_0(transfer.end, first, last);
  }
  return transfers;
}

RunTimeline::RunTimeline(const collectives::Topology& topology, Heartbeat& heartbeat,
                         std::filesystem::path file, const collectives::Explain& explain,
                         std::size_t capacity)
    : topology_(topology),
      heartbeat_(heartbeat),
      file_(std::move(file)),
      capacity_(capacity > 0 ? capacity : capacity_for(topology.all().size())),
      timeline_(capacity_) {
  collectives::agree(
      topology_.all(),
      [&] {
        if (topology_.all().rank() == 0) require_writable(file_);
      },
      explain);
  origin_ = collectives::steady_nanoseconds();  // before any other rank can be here
  topology_.all().barrier();
  start_ = mark();
  heartbeat_.record_into(&timeline_);
}

ClockMark RunTimeline::mark() const {
  const collectives::ClockOffset offset = collectives::clock_offset(topology_);
  return {collectives::steady_nanoseconds(), offset};
}

void RunTimeline::update(const StepReport& report) {
  updates_[report.update] = {report.batch_size, report.substeps};
  if (updates_.size() > capacity_) updates_.erase(updates_.begin());
}

void RunTimeline::checkpoint(const CheckpointReport& report) {
  if (checkpoints_.size() == most_checkpoints) checkpoints_.erase(checkpoints_.begin());
  checkpoints_.push_back(report);
}

void RunTimeline::write(const collectives::Explain& explain) {
  const ClockMark now = mark();
  heartbeat_.record_into(nullptr);
  std::vector<TimelineSpan> mine = aligned_spans(timeline_.entries(), start_, now);
  const TimelineFacts common = facts(mine, now);
  std::vector<TimelineTransfer> transfers = aligned_transfers(timeline_.transfers(), start_, now);
  const auto is_left_out = [&](const auto& part) { return part.update < common.first_update; };
  std::erase_if(mine, is_left_out);
  std::erase_if(transfers, is_left_out);
  const std::vector<std::int64_t> numbers = packed(topology_.node_index(), mine, transfers);
  const std::string whole = text(common, numbers);
  collectives::agree(
      topology_.all(),
      [&] {
        if (topology_.all().rank() == 0) commit_file(file_, std::as_bytes(std::span(whole)));
      },
      explain);
}

void RunTimeline::write_after_failure(const collectives::Explain& explain) {
  try {
    write(explain);
  } catch (const collectives::AgreedFailure&) {
    return;
  }
}

// Collective: every rank begins with the first update that all of them have kept.
TimelineFacts RunTimeline::facts(const std::vector<TimelineSpan>& mine,
                                 const ClockMark& now) const {
  const bool is_complete = timeline_.is_complete();
  const std::uint64_t first = is_complete ? 0 : mine.front().update + 1;
  std::array<std::int64_t, 3> most{static_cast<std::int64_t>(std::min(first, mine.back().update)),
                                   is_complete ? 0 : 1,
                                   std::max(start_.offset.uncertainty, now.offset.uncertainty)};
  topology_.all().maximum(most);
  return {.hosts = topology_.hosts(),
          .ranks = topology_.all().size(),
          .is_complete = most[1] == 0,
          .first_update = static_cast<std::uint64_t>(most[0]),
          .capacity = capacity_,
          .clock_error = 1e-9 * static_cast<double>(most[2])};
}

// Collective; the whole file on rank 0.
std::string RunTimeline::text(const TimelineFacts& facts,
                              std::span<const std::int64_t> mine) const {
  TimelineText text(facts, updates_);
  collectives::collect(topology_.all(), std::as_bytes(mine),
                       [&](std::size_t rank, std::span<const std::byte> bytes) {
                         std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
                         std::ranges::copy(bytes,
                                           std::as_writable_bytes(std::span(numbers)).begin());
                         const RankRow row = unpacked(numbers, origin_);
                         text.add_rank(rank, row.host, row.spans);
                         text.add_transfers(rank, row.host, row.transfers);
                       });
  text.add_checkpoints(checkpoints(facts.first_update));
  return std::move(text).finish();
}

std::vector<TimelineCheckpoint> RunTimeline::checkpoints(std::uint64_t first_update) const {
  std::vector<TimelineCheckpoint> result;
  for (const CheckpointReport& report : checkpoints_) {
    if (report.update < first_update) continue;
    const std::int64_t begin = nanoseconds(report.begin) - origin_;
    const std::int64_t encoded = begin + nanoseconds(report.encode_seconds);
    result.push_back({report.update, begin, encoded, encoded + nanoseconds(report.write_seconds)});
  }
  return result;
}

}  // namespace rubato::runtime
