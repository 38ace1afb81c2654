// Fetching memory that is about to be written and that other cores have read.
//
// A core that reads a line of it and then writes there asks for the line twice: for its content,
// and for the right to write, one line after the other. Told of the intention, it asks once, for
// many lines together.
#pragma once

#include <cstddef>
#include <span>

#include "optim/tensor_segments.hpp"

namespace rubato::optim {

// So many at a time: lines enough to wait for them together, few enough to find all of them in the
// nearest cache.
inline constexpr std::size_t write_prefetch_elements = 1024;

// Begins to fetch them, without waiting. Advice only.
inline void prefetch_for_writing(std::span<float> elements) {
  for (std::size_t i = 0; i < elements.size(); i += line_elements) {
#if defined(__x86_64__)
    // The compilers' prefetch forgets the intention when they compile for x86-64-v3, which does not
    // promise the instruction; processors that lack it do nothing.
    asm volatile("prefetchw %0" : : "m"(elements[i]));
#else
    __builtin_prefetch(&elements[i], 1);
#endif
  }
}

}  // namespace rubato::optim
