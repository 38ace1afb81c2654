// What every rank has, seen on rank 0, one rank after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "collectives/communicator.hpp"

namespace rubato::collectives {

// Collective. Calls `visit` on rank 0 with the bytes of each rank, in the order of ranks, its own
// first. Of the others' only one is in memory at a time, so that many ranks may have much.
void collect(const Communicator& communicator, std::span<const std::byte> mine,
             const std::function<void(std::size_t rank, std::span<const std::byte>)>& visit);

}  // namespace rubato::collectives
