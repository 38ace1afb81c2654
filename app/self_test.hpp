// Two seconds of doing what training does, in small: arithmetic, shared memory, sums over ranks, a
// barrier, a model step.
#pragma once

#include <string>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::app {

struct CheckResult {
  std::string name = {};
  std::string measured = {};  // in words, with the unit
  std::string problem = {};   // empty: all is well
  std::string remedy = {};
};

// Collective. The same results on every rank: of each check the first rank's problem, and what rank
// 0 measured.
std::vector<CheckResult> self_test(const collectives::Topology& topology);

}  // namespace rubato::app
