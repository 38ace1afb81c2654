// Which elements an update measures in the optimizer's metric: of small tensors all, of large ones
// a line of 16 in every 1024, counted 64-fold. In updates 64k to 64k + 63 each line has its turn
// once, so that together they give what all elements would have given, for a 64th of the time.
//
// Large tensors are those of dense layers above all, which compute little for each element, so that
// measuring them shows; and noise of few directions shows in a 64th as well as in all.
//
// Pieces are as short as memory can be read, and come at another turn in each 1024, because large
// values keep together: in the row of a unit that seldom fires, in the column of an input that is
// seldom lit. The order of the turns shifts every 64 updates, or updates that are looked at in a
// rhythm (every second one, where single minibatches are compared) would never see some pieces.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/norm_block.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

inline constexpr std::size_t most_elements_measured_whole = 1 << 16;  // of a tensor
inline constexpr std::size_t piece_elements = line_elements;
inline constexpr std::size_t pieces_in_turn = 64;

// Of one segment: all of it, or pieces.
struct MeasuredPieces {
  static constexpr std::size_t most = norm_block_elements / piece_elements / pieces_in_turn;

  double weight = 1;                            // of how many elements each is one
  std::size_t size = 0;                         // elements in all
  std::array<std::uint32_t, most> begins = {};  // of the pieces, in the segment

  bool is_whole() const { return weight == 1; }  // then it has no pieces
  std::size_t count() const { return size / piece_elements; }
  // Has pieces of the segment's values on their way to the cache; of whole ones the processor will
  // see to it.
  void prefetch(const float* values) const {
    for (std::size_t i = 0; !is_whole() && i < count(); ++i) __builtin_prefetch(values + begins[i]);
  }
  // Copies those of the segment's values, one behind the other.
  void gather(std::span<const float> values, float* to) const;
  // Becomes those of segment `index`, when so many updates have been made. (In place and inline:
  // that takes hardly longer than to copy a segment's pieces, or a call.)
  void take_turn(const TensorSegments& segments, std::size_t index, std::uint64_t updates);
};

// A turn from the fraction of a multiple of the golden ratio: they come evenly in every rhythm.
inline std::uint64_t shift_of_turn(std::uint64_t number) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // the fraction, times 2^64
  static_assert(pieces_in_turn == 64, "six bits");
  return number * golden >> 58;
}

// Of a segment no update measures more elements.
inline std::size_t most_elements_measured(const Segment& segment) {
  if (segment.tensor_size <= most_elements_measured_whole) return segment.size;
  constexpr std::size_t in_turn = pieces_in_turn * piece_elements;
  return std::min(segment.size, (segment.size + in_turn - 1) / in_turn * piece_elements);
}

inline void MeasuredPieces::take_turn(const TensorSegments& segments, std::size_t index,
                                      std::uint64_t updates) {
  constexpr std::size_t in_turn = pieces_in_turn * piece_elements;
  const Segment& segment = segments.all()[index];
  if (segment.tensor_size <= most_elements_measured_whole) {
    weight = 1;
    size = segment.size;
    return;
  }
  weight = pieces_in_turn;
  std::size_t pieces = 0;
  const std::uint64_t turn = updates + shift_of_turn(updates / pieces_in_turn);
  for (std::size_t first = 0; first < segment.size; first += in_turn) {
    const std::uint64_t shift = shift_of_turn(index * most + first / in_turn);
    const std::size_t begin = first + (turn + shift) % pieces_in_turn * piece_elements;
    if (begin < segment.size) begins[pieces++] = static_cast<std::uint32_t>(begin);
  }
  size = pieces * piece_elements;
}

}  // namespace rubato::optim
