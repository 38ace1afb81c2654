// How a minibatch's time grows with its size, found out before a run's first update.
//
// As long as updates have had minibatches of one size only, nothing tells how long others take, and
// whoever guesses leaves a good batch for a worse one, or stays at a bad one. A few minibatches,
// run and forgotten, tell. They change when a run decides what, never what comes of a decision.
#pragma once

#include <cstdint>
#include <functional>

#include "collectives/communicator.hpp"

namespace rubato::runtime {

// Collective. What a minibatch takes longer for one more sample, in seconds, 0 or more: the mean
// over the ranks, which run theirs at the same time. `seconds_of` runs a minibatch of so many
// samples on this rank. Precondition: fewer < more, the same on all ranks.
double seconds_per_sample(const collectives::Communicator& ranks, std::uint64_t fewer,
                          std::uint64_t more,
                          const std::function<double(std::uint64_t)>& seconds_of);

}  // namespace rubato::runtime
