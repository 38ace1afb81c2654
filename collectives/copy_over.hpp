// Writing where other cores have read.
//
// An ordinary store there waits until the line has come from the other core, one line after the
// other, and telling the processor ahead does not help where the cores share no cache: the lines
// still travel. Its string instruction, which memcpy uses from a few KiB on, overwrites whole lines
// without fetching them, and unlike streaming stores leaves them in the writer's cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace rubato::collectives {

// Copies; the two must not overlap. A barrier after it, as after an ordinary store, makes the copy
// visible to other ranks.
template <class T>
void copy_over(std::span<const T> source, T* target) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (!source.empty()) std::memcpy(target, source.data(), source.size_bytes());
}

// Lets change(copy) change a copy of the elements, at most so many, and copies that over them.
template <std::size_t most_elements, class T, class Change>
void change_over(std::span<T> elements, const Change& change) {
  alignas(64) std::array<T, most_elements> storage;
  const std::span<T> copy = std::span(storage).first(elements.size());
  std::ranges::copy(elements, copy.begin());
  change(copy);
  copy_over<T>(copy, elements.data());
}

}  // namespace rubato::collectives
