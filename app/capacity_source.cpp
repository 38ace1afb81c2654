// See capacity_source.hpp.
#include "app/capacity_source.hpp"

#include <algorithm>
#include <utility>

#include "app/failure.hpp"
#include "app/option_value.hpp"
#include "data/errors.hpp"
#include "data/file_bytes.hpp"
#include "data/in_quotes.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_count = 1'000'000;  // of ranks, and of devices in a capacity file
constexpr std::uint64_t most_bytes_of_a_number = 4096;

std::string_view without_blanks(std::string_view text) {
  const auto* blanks = " \t\r\n";
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::uint64_t read_number(const std::filesystem::path& file) {
  const auto bytes = data::read_file(file, most_bytes_of_a_number);
  const auto text = without_blanks(data::as_text(bytes));
  const auto number = parse_whole<std::uint64_t>(text);
  if (number && *number <= most_count) return *number;
  throw data::ContentError(
      file.string() + ":1:1: found " + (text.empty() ? "nothing" : data::in_quotes(text)) +
      ", expected one whole number of devices from 0 to " + std::to_string(most_count));
}

class FixedCapacity final : public CapacitySource {
 public:
  explicit FixedCapacity(std::uint64_t devices) : devices_(devices) {}
  std::uint64_t devices_now() override { return devices_; }
  std::uint64_t largest() const override { return devices_; }

 private:
  std::uint64_t devices_;
};

class CapacityFile final : public CapacitySource {
 public:
  CapacityFile(std::filesystem::path file, std::uint64_t most)
      : file_(std::move(file)), most_(most), devices_(read_number(file_)) {}

  std::uint64_t devices_now() override {
    try {
      devices_ = read_number(file_);
      is_wrong_ = false;
    } catch (const data::MissingFileError& error) {
      keep_last(error.what());
    } catch (const data::ContentError& error) {
      keep_last(error.what());
    }
    return devices_;
  }
  std::uint64_t largest() const override { return most_; }
  std::optional<std::string> take_warning() override { return std::exchange(warning_, {}); }

 private:
  // A file that is just being replaced is wrong for a moment: only the second look in a row warns.
  void keep_last(const std::string& reason) {
    if (is_wrong_ && !has_warned_) {
      warning_ = reason + "; the last number, " + std::to_string(devices_) + ", stays";
    }
    has_warned_ = is_wrong_;
    is_wrong_ = true;
  }

  std::filesystem::path file_;
  std::uint64_t most_;
  std::uint64_t devices_;
  bool is_wrong_ = false;
  bool has_warned_ = false;
  std::optional<std::string> warning_;
};

class ReplayedCapacity final : public CapacitySource {
 public:
  ReplayedCapacity(CapacityHistory history, double scale)
      : history_(std::move(history)), scale_(scale) {}

  std::uint64_t devices_now() override {
    const std::chrono::duration<double> passed = Clock::now() - begin_;
    return history_.devices_at(passed.count() * scale_);
  }
  std::uint64_t largest() const override { return history_.largest(); }

 private:
  using Clock = std::chrono::steady_clock;
  CapacityHistory history_;
  double scale_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

RankLimits parse_rank_limits(const std::string& text) {
  const auto colon = text.find(':');
  const auto least = parse_whole<std::uint64_t>(text.substr(0, colon));
  const auto most =
      colon == std::string::npos ? least : parse_whole<std::uint64_t>(text.substr(colon + 1));
  if (!least || !most || *least == 0 || *most < *least || *most > most_count) {
    throw UsageError("--ranks " + text + ": expected N or MIN:MAX, whole numbers from 1 to " +
                     std::to_string(most_count) + ", the lower one first");
  }
  return {.least = *least, .most = *most};
}

std::uint64_t ranks_for(std::uint64_t devices, std::uint64_t largest, const RankLimits& limits) {
  const auto ranks = std::min(devices, largest) * limits.most / largest;  // < 2^31 * 10^6
  return ranks < limits.least ? 0 : ranks;
}

std::unique_ptr<CapacitySource> fixed_capacity(std::uint64_t devices) {
  return std::make_unique<FixedCapacity>(devices);
}

std::unique_ptr<CapacitySource> capacity_file(std::filesystem::path file, std::uint64_t most) {
  return std::make_unique<CapacityFile>(std::move(file), most);
}

std::unique_ptr<CapacitySource> replayed_capacity(CapacityHistory history, double scale) {
  return std::make_unique<ReplayedCapacity>(std::move(history), scale);
}

}  // namespace rubato::app
