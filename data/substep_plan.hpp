// Which of an update's minibatches each rank runs. The result of the update does not depend on it;
// its duration does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace rubato::data {

enum class Assignment {
  blocked,  // contiguous blocks, the low ranks take the surplus: the same counts as strided
  strided   // rank r runs r, r + R, r + 2R, ...: the reference's
};

Assignment assignment(const std::string& name);  // throws std::invalid_argument
std::string to_string(Assignment assignment);

// The minibatches of `rank` as offsets 0 ... minibatches-1 into the update, ascending. Empty for an
// idle rank.
std::vector<std::size_t> substeps_of(Assignment assignment, std::size_t rank, std::size_t ranks,
                                     std::size_t minibatches);

}  // namespace rubato::data
