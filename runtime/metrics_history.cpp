// One pass over the lines, without parsing those that are only counted.
#include "runtime/metrics_history.hpp"

#include <array>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace rubato::runtime {

namespace {

constexpr std::string_view context_begin = R"({"type":"context")";
constexpr std::string_view update_begin = R"({"type":"update","update":)";
constexpr std::string_view epoch_begin = R"({"type":"epoch")";
constexpr std::array<std::string_view, 5> consequences{
    R"({"type":"eval")", epoch_begin, R"({"type":"checkpoint")", R"({"type":"warning")",
    R"({"type":"decision")"};
constexpr std::size_t largest_line = 1U << 20U;

// Whole lines, and where each ends in the file.
class Lines {
 public:
  explicit Lines(const std::filesystem::path& file) : buffer_(largest_line + 1) {
    if (std::filesystem::symlink_status(file).type() == std::filesystem::file_type::regular) {
      stream_.open(file, std::ios::binary);
    }
  }
  bool is_open() const { return stream_.is_open(); }

  // False at the end; a last line without its newline is none.
  bool next() {
    stream_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    if (!stream_ || stream_.eof()) return false;
    const auto count = static_cast<std::size_t>(stream_.gcount());  // with the newline
    end_ += count;
    line_ = {buffer_.data(), count - 1};
    return true;
  }
  std::string_view line() const { return line_; }
  std::uint64_t end() const { return end_; }

 private:
  std::ifstream stream_;
  std::vector<char> buffer_;
  std::string_view line_;
  std::uint64_t end_ = 0;
};

nlohmann::json parsed(std::string_view line) {
  return nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
}

// The number of the update that the line is about, if it is about one.
std::optional<std::uint64_t> update_of(std::string_view line) {
  if (!line.starts_with(update_begin) || line.back() != '}') return std::nullopt;
  const char* const begin = line.data() + update_begin.size();
  const char* const end = line.data() + line.size();
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(begin, end, number);
  if (error != std::errc{} || (*rest != ',' && *rest != '}')) return std::nullopt;
  return number;
}

bool is_consequence(std::string_view line) {
  for (const std::string_view begin : consequences) {
    if (line.starts_with(begin)) return true;
  }
  return false;
}

// What the line says under that name; 0 if it has none; nothing if that, or the line, is no good.
std::optional<std::uint64_t> whole_number(std::string_view line, const char* name) {
  const nlohmann::json json = parsed(line);
  if (!json.is_object()) return std::nullopt;
  const auto value = json.find(name);
  if (value == json.end()) return 0;
  if (!value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

// The update after which a start of the run begins, if the line is one's context.
std::optional<std::uint64_t> first_update(std::string_view line) {
  if (!line.starts_with(context_begin)) return std::nullopt;
  return whole_number(line, "resumed_from");
}

bool ends_epoch_before(std::uint64_t epoch, std::string_view line) {
  return epoch > 0 && line.starts_with(epoch_begin) && whole_number(line, "epoch") == epoch - 1;
}

// To the end of what follows from the cursor's update. `counts`: what is read next does. A later
// start from there does once it has completed the epoch before the cursor's.
std::uint64_t end_of_consequences(Lines& lines, const data::Cursor& cursor, bool counts) {
  std::uint64_t kept = lines.end();
  while (lines.next()) {
    if (first_update(lines.line()) == cursor.update) {
      counts = false;
    } else if (!is_consequence(lines.line())) {
      break;
    } else if (ends_epoch_before(cursor.epoch, lines.line())) {
      counts = true;
    }
    if (counts) kept = lines.end();
  }
  return kept;
}

MetricsHistory incomplete(std::string problem) { return {0, std::move(problem)}; }

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

MetricsHistory metrics_history(const std::filesystem::path& file, const data::Cursor& cursor) {
  Lines lines(file);
  if (!lines.is_open()) return incomplete("is missing");
  const auto first = lines.next() ? first_update(lines.line()) : std::nullopt;
  if (!first) return incomplete("does not begin with the context of a run");
  if (*first > cursor.update) return incomplete("begins after update " + number(*first));
  std::uint64_t last = *first;
  while (last < cursor.update && lines.next()) {
    const auto found = update_of(lines.line());
    if (!found) continue;
    if (*found != last + 1) {
      return incomplete("has update " + number(*found) + " after update " + number(last));
    }
    last = *found;
    if (last == cursor.update && parsed(lines.line()).is_discarded()) {
      return incomplete("has a damaged line for update " + number(last));
    }
  }
  if (last < cursor.update) return incomplete("ends after update " + number(last));
  return {end_of_consequences(lines, cursor, /*counts=*/last > *first), {}};
}

}  // namespace rubato::runtime
