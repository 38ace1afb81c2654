// Sums by name, on their way over the ranks and into a checkpoint.
#pragma once

#include <map>
#include <span>
#include <string>

#include "collectives/communicator.hpp"
#include "runtime/exact_sum.hpp"

namespace rubato::runtime {

using NamedSums = std::map<std::string, ExactSum>;

void add(const NamedSums& from, NamedSums& to);

// Collective. Each becomes its sum over the ranks: exact, so the same bits on any number of them.
// Every rank has as many, in the same order; names may differ.
void sum_over_ranks(const collectives::Communicator& communicator,
                    std::span<NamedSums* const> sums);

// For a checkpoint, and from one: throws data::ContentError.
std::string text_of(const NamedSums& sums);
NamedSums named_sums(const std::string& text);

}  // namespace rubato::runtime
