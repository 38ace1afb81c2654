// Which of an update's minibatches each rank runs. The result of the update does not depend on it;
// its duration does.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rubato::data {

enum class Assignment {
  blocked,  // contiguous blocks, the low ranks take the surplus: the same counts as strided
  strided,  // rank r runs r, r + R, r + 2R, ...: the reference's
  balanced  // by the ranks' speeds, below; as blocked while they are not known
};

Assignment assignment(const std::string& name);  // throws std::invalid_argument
std::string to_string(Assignment assignment);

// The minibatches of `rank` as offsets 0 ... minibatches-1 into the update, ascending. Empty for an
// idle rank.
std::vector<std::size_t> substeps_of(Assignment assignment, std::size_t rank, std::size_t ranks,
                                     std::size_t minibatches);

// The rank of each minibatch, the other way round.
std::vector<std::size_t> owners_of(Assignment assignment, std::size_t ranks,
                                   std::size_t minibatches);

// By speed: the rank of each minibatch, so that the last rank is done as early as it can be.
// seconds[r] > 0 is what rank r takes for a whole minibatch, work[i] in (0, 1] how much of a whole
// one minibatch i is; a rank takes work * seconds for it.
//
// Exact where all are whole: each goes to the rank that would be done with it first. (Let T be the
// best possible finish. As long as one is left to give, some rank can still take one and be done by
// T, so the one that is done first is.) Short minibatches follow in the same way. Whole ones come
// in contiguous blocks, in the order of the ranks.
//
// `tried`: a rank that gets a whole minibatch, if there is one, whatever its speed.
std::vector<std::size_t> balanced_owners(std::span<const double> seconds,
                                         std::span<const double> work,
                                         std::optional<std::size_t> tried = std::nullopt);

// When the last rank is done.
double finishing_seconds(std::span<const std::size_t> owners, std::span<const double> seconds,
                         std::span<const double> work);

}  // namespace rubato::data
