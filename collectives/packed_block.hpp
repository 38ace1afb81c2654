// A block of doubles in fewer bytes, and back, without loss.
//
// A block of floats is stored as floats: what one minibatch alone has given is one, also rounded to
// a unit. Sums that are made exact by rounding their addends to multiples of a unit have many
// trailing zeros: where a block's values are all k * u for integers k of 8 w bits, the k are
// stored, w bytes each, 4 to 6; u is found for each block anew. Blocks that have no such u are
// stored as they are. Gradients need 4 or 5 bytes instead of 8, so that an exact sum costs hardly
// more of a network than one in float. The sign of a zero may be lost.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/topology.hpp"

namespace rubato::collectives {

// Room for a packed block of so many elements: more than is ever used, so that whole words may be
// read and written at its end.
constexpr std::size_t packed_room(std::size_t elements) { return elements * sizeof(double) + 32; }

// At most block_elements values. Returns the number of bytes written.
std::size_t pack(std::span<const double> values, std::byte* target);
std::size_t pack(std::span<const float> values, std::byte* target);  // as they are

// Reads as many values as were packed, into `values`. Returns the number of bytes read.
std::size_t unpack(const std::byte* source, std::span<double> values);
std::size_t unpack(const std::byte* source, std::span<float> values);

}  // namespace rubato::collectives
