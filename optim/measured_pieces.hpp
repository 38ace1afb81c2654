// Which elements an update measures in the optimizer's metric: of small tensors all, of large ones
// a piece of 64 in every 1024, counted sixteenfold. In sixteen updates each piece has its turn
// once, so that together they give what all elements would have given, for a sixteenth of the time.
//
// Large tensors are those of dense layers above all, which compute little for each element, so that
// measuring them shows; and where there are many elements, a sixteenth says nearly as much.
//
// Pieces are short, and come at another turn in each 1024, because large values keep together: in
// the row of a unit that seldom fires, in the column of an input that is seldom lit. The order of
// the turns shifts every sixteen updates, or updates that are looked at in a rhythm (every second
// one, where single minibatches are compared) would never see some pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "optim/norm_block.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

inline constexpr std::size_t most_elements_measured_whole = 1 << 16;  // of a tensor
inline constexpr std::size_t piece_elements = 64;
inline constexpr std::size_t pieces_in_turn = 16;

struct Piece {
  std::size_t begin;  // in the flat buffers
  std::size_t size;   // whole lines
};

// Of one segment: all of it, or pieces.
struct MeasuredPieces {
  static constexpr std::size_t most = norm_block_elements / piece_elements / pieces_in_turn;
  using Elements = std::array<float, most * piece_elements>;

  double weight = 1;  // of how many elements each is one; 1: the segment is measured whole
  std::size_t count = 0;
  std::array<Piece, most> all = {};

  // Those elements one behind the other, in `memory` where they are not so already; `values` are
  // those of the flat buffer from `begin` on.
  std::span<const float> gather(std::span<const float> values, std::size_t begin,
                                Elements& memory) const;
};

// Of segment `index`, when so many updates have been made.
MeasuredPieces measured_pieces(const TensorSegments& segments, std::size_t index,
                               std::uint64_t updates);

}  // namespace rubato::optim
