// See substep_plan.hpp.
#include "data/substep_plan.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace rubato::data {

Assignment assignment(const std::string& name) {
  if (name == "blocked") return Assignment::blocked;
  if (name == "strided") return Assignment::strided;
  throw std::invalid_argument("assignment: found \"" + name + "\", expected blocked or strided");
}

std::string to_string(Assignment assignment) {
  return assignment == Assignment::blocked ? "blocked" : "strided";
}

std::vector<std::size_t> substeps_of(Assignment assignment, std::size_t rank, std::size_t ranks,
                                     std::size_t minibatches) {
  if (rank >= ranks) {
    throw std::invalid_argument("substeps_of: found rank " + std::to_string(rank) + " of " +
                                std::to_string(ranks) + " ranks, expected a rank below that");
  }
  const std::size_t share = minibatches / ranks;
  const std::size_t surplus = minibatches % ranks;
  std::vector<std::size_t> offsets(share + (rank < surplus ? 1 : 0));
  if (assignment == Assignment::blocked) {
    std::iota(offsets.begin(), offsets.end(), rank * share + std::min(rank, surplus));
  } else {
    for (std::size_t k = 0; k < offsets.size(); ++k) offsets[k] = rank + k * ranks;
  }
  return offsets;
}

}  // namespace rubato::data
