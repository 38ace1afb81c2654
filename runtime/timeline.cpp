// See timeline.hpp.
#include "runtime/timeline.hpp"

#include <algorithm>

namespace rubato::runtime {

std::vector<TimelineEntry> Timeline::entries() const {
  if (is_complete()) return {ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(entered_)};
  std::vector<TimelineEntry> entries(ring_.size());
  const auto oldest = static_cast<std::ptrdiff_t>(entered_ % ring_.size());
  std::rotate_copy(ring_.begin(), ring_.begin() + oldest, ring_.end(), entries.begin());
  return entries;
}

}  // namespace rubato::runtime
