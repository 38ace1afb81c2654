// Memory that starts on a cache line and only ever grows.
//
// A layer asks for what the minibatch in hand needs; memory is allocated when that is more than
// ever before, so the steady state allocates nothing. The content does not survive growth and is
// not cleared: whoever reads an element has written it for the same minibatch.
//
// Large memory begins on a huge page, and the system is asked for huge ones: the processor
// remembers where only so many pages lie, and a network's activations do not fit into as many small
// ones. Not memory of which only a part will be used: of a huge page the rest is lost.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace rubato::nn {

inline constexpr std::size_t cache_line_bytes = 64;

// Whole cache lines, so that what lies behind it in a buffer is aligned too.
inline std::size_t whole_lines(std::size_t floats) {
  constexpr std::size_t line = cache_line_bytes / sizeof(float);
  return (floats + line - 1) / line * line;
}

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20U;  // of x86-64

enum class Pages { small, huge };  // of 2 MiB and more; less lies in small ones

// Released by release_aligned with the same size and pages. Throws std::bad_alloc.
void* allocate_aligned(std::size_t bytes, Pages pages);
void release_aligned(void* begin, std::size_t bytes, Pages pages) noexcept;

template <typename T, Pages pages = Pages::huge>
class AlignedBuffer {
  static_assert(std::is_trivial_v<T>);

 public:
  AlignedBuffer() = default;
  ~AlignedBuffer() { release(); }
  AlignedBuffer(AlignedBuffer&& other) noexcept  // the other one is empty afterwards
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&&) = delete;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  // The first `elements` elements, after making room for them.
  std::span<T> first(std::size_t elements) {
    if (elements > capacity_) grow(elements);
    return {data_, elements};
  }
  std::span<const T> first(std::size_t elements) const { return {data_, elements}; }
  // All that there is room for.
  std::span<T> all() noexcept { return {data_, capacity_}; }

 private:
  void grow(std::size_t elements) {
    release();
    data_ = static_cast<T*>(allocate_aligned(elements * sizeof(T), pages));
    capacity_ = elements;
  }
  void release() noexcept {
    release_aligned(data_, capacity_ * sizeof(T), pages);
    data_ = nullptr;
    capacity_ = 0;
  }

  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace rubato::nn
