// The order in which a slice is summed over hosts: bucket by bucket, those first that are known
// first.
//
// A backward pass finishes an array from its end to its beginning. What comes last has nothing left
// to hide behind: so buckets become shorter towards the beginning of the whole array: half, and one
// block. All hosts cut alike, so that the n-th bucket of one is the n-th of all.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::collectives {

// Cuts `slice` from its end into buckets of at most `blocks` whole blocks, at least 1 (otherwise
// throws std::invalid_argument). Elements of `left_out` are in none: whole blocks, in ascending
// order.
std::vector<Slice> buckets_of(const Slice& slice, std::size_t blocks,
                              std::span<const Slice> left_out = {});

}  // namespace rubato::collectives
