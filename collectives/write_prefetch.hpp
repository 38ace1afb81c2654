// Fetching memory that is about to be written and that other cores have read.
//
// A core that reads a line of it and then writes there asks for the line twice: for its content,
// and for the right to write, one line after the other. Told of the intention, it asks once, for
// many lines together. One that only writes waits for the content all the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace rubato::collectives {

// Begins to fetch the line of an element, or those of all, without waiting. Advice only.
template <class T>
void prefetch_line_for_writing(T* element) {
#if defined(__x86_64__)
  // The compilers' prefetch forgets the intention when they compile for x86-64-v3, which does not
  // promise the instruction; processors that lack it do nothing.
  asm volatile("prefetchw %0" : : "m"(*element));
#else
  __builtin_prefetch(element, 1);
#endif
}

template <class T>
void prefetch_for_writing(std::span<T> elements) {
  constexpr std::size_t line = 64 / sizeof(T);
  for (std::size_t i = 0; i < elements.size(); i += line) prefetch_line_for_writing(&elements[i]);
}

// Hands `target` to write(begin, piece) piece by piece, each of which is on its way: lines enough
// to wait for them together, few enough to find all of them in the nearest cache.
template <class T, class Write>
void write_in_pieces(std::span<T> target, const Write& write) {
  constexpr std::size_t piece_elements = 4096 / sizeof(T);
  for (std::size_t begin = 0; begin < target.size(); begin += piece_elements) {
    const std::span<T> piece =
        target.subspan(begin, std::min(piece_elements, target.size() - begin));
    prefetch_for_writing(piece);
    write(begin, piece);
  }
}

}  // namespace rubato::collectives
