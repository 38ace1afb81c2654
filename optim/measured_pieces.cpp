#include "optim/measured_pieces.hpp"

#include <algorithm>

namespace rubato::optim {

namespace {

// A turn from the fraction of a multiple of the golden ratio: they come evenly in every rhythm.
std::uint64_t shift_of(std::uint64_t number) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // the fraction, times 2^64
  static_assert(pieces_in_turn == 16, "four bits");
  return number * golden >> 60;
}

}  // namespace

std::span<const float> MeasuredPieces::gather(std::span<const float> values, std::size_t begin,
                                              Elements& memory) const {
  if (weight == 1) return values.subspan(all[0].begin - begin, all[0].size);
  float* end = memory.data();
  for (std::size_t i = 0; i < count; ++i) {
    const float* const from = values.data() + (all[i].begin - begin);
    // of a size that the compiler knows: a few instructions in place of a call
    end = all[i].size == piece_elements ? std::copy_n(from, piece_elements, end)
                                        : std::copy_n(from, all[i].size, end);
  }
  return {memory.data(), end};
}

MeasuredPieces measured_pieces(const TensorSegments& segments, std::size_t index,
                               std::uint64_t updates) {
  constexpr std::size_t in_turn = pieces_in_turn * piece_elements;
  const Segment& segment = segments.all()[index];
  if (segment.tensor_size <= most_elements_measured_whole) {
    return {1, 1, {{{segment.begin, segment.size}}}};
  }
  MeasuredPieces pieces{.weight = pieces_in_turn};
  const std::uint64_t turn = updates + shift_of(updates / pieces_in_turn);
  for (std::size_t first = 0; first < segment.size; first += in_turn) {
    const std::uint64_t shift = shift_of(index * MeasuredPieces::most + first / in_turn);
    const std::size_t begin = first + (turn + shift) % pieces_in_turn * piece_elements;
    if (begin >= segment.size) continue;
    pieces.all[pieces.count++] = {segment.begin + begin,
                                  std::min(piece_elements, segment.size - begin)};
  }
  return pieces;
}

}  // namespace rubato::optim
