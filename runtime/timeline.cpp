// See timeline.hpp.
#include "runtime/timeline.hpp"

#include <algorithm>

namespace rubato::runtime {

template <class T>
std::vector<T> TimelineRing<T>::all() const {
  if (is_complete()) return {ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(added_)};
  std::vector<T> entries(ring_.size());
  const auto oldest = static_cast<std::ptrdiff_t>(added_ % ring_.size());
  std::rotate_copy(ring_.begin(), ring_.begin() + oldest, ring_.end(), entries.begin());
  return entries;
}

template class TimelineRing<TimelineEntry>;
template class TimelineRing<TimelineTransfer>;

}  // namespace rubato::runtime
