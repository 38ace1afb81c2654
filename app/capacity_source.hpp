// How many devices there are now, and how many ranks that makes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "app/capacity_history.hpp"

namespace rubato::app {

struct RankLimits {
  std::uint64_t least = 1;
  std::uint64_t most = 1;
};

// "N" (N:N) or "MIN:MAX". Throws UsageError "--ranks ...".
RankLimits parse_rank_limits(const std::string& text);

// The share of the largest capacity, of the most ranks, rounded down:
//   ranks = floor(devices * most / largest), at most `most`; 0 (pause) if that is less than
//   `least`.
std::uint64_t ranks_for(std::uint64_t devices, std::uint64_t largest, const RankLimits& limits);

class CapacitySource {
 public:
  virtual ~CapacitySource() = default;
  virtual std::uint64_t devices_now() = 0;
  virtual std::uint64_t largest() const = 0;  // the capacity that makes the most ranks
  // A sentence that has not been given before, about what could not be read.
  virtual std::optional<std::string> take_warning() { return std::nullopt; }
};

// Always the same.
std::unique_ptr<CapacitySource> fixed_capacity(std::uint64_t devices);

// A file whose text is one number of devices, a device being a rank (`most` of them at most).
// Throws data::MissingFileError or data::ContentError if it cannot be read now; later the last
// number stays while the file is away, empty or wrong.
std::unique_ptr<CapacitySource> capacity_file(std::filesystem::path file, std::uint64_t most);

// A history replayed from now on, `scale` of its seconds in one.
std::unique_ptr<CapacitySource> replayed_capacity(CapacityHistory history, double scale);

}  // namespace rubato::app
