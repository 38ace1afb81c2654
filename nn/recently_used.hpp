// The values of the keys used last, at most so many of them; what was not used for longest goes.
//
// For things that are costly to make and of which few are needed at a time, such as kernels for one
// minibatch size. Looking one up searches a handful of entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace rubato::nn {

template <typename Key, typename Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t capacity) : capacity_(capacity) { entries_.reserve(capacity); }

  // The key's value, made by make(key) where it is not there; valid until the next call.
  template <typename Make>
  Value& get(const Key& key, Make make) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (found != entries_.end()) {
      std::rotate(entries_.begin(), found, found + 1);
    } else {
      if (entries_.size() == capacity_) entries_.pop_back();  // before, so that its memory is free
      entries_.emplace(entries_.begin(), key, make(key));
    }
    return entries_.front().second;
  }
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  std::size_t capacity_;
  std::vector<std::pair<Key, Value>> entries_;  // the one used last first
};

}  // namespace rubato::nn
