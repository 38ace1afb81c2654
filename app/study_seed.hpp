// The seeds of a study's runs, so far apart that no two runs share a permutation of the samples.
//
// The order `torch` shuffles epoch e with a generator seeded with the low 32 bits of seed + e: two
// runs of E epochs share a permutation as soon as their seeds are less than E apart, and runs with
// the seeds 1, 2 and 3 share almost all of them. `feistel` is keyed with the seed and the epoch, so
// that different seeds are enough. (data/epoch_order.hpp)
//
// So the 2^32 seeds are divided into blocks of 4096, and every run gets one to itself; its seed is
// the first of it, and seed + e leaves it after 4096 epochs only. Which block, the run's name says,
// through SHA-256: a study to which cells are added later keeps the seeds of those it has. (Two
// names of one block, one pair in a million: the later one takes the next free block.)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rubato::app {

constexpr std::uint64_t most_epochs_of_a_seed = 4096;
constexpr std::uint64_t most_seeds = (std::uint64_t{1} << 32U) / most_epochs_of_a_seed;

// A seed for each name. Precondition: at most most_seeds names.
std::vector<std::uint64_t> spaced_seeds(const std::vector<std::string>& names);

}  // namespace rubato::app
