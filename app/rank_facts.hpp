// What each rank can say of the machine under it, and what is wrong with how the ranks are placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/topology.hpp"

namespace rubato::app {

struct RankFacts {
  std::size_t rank = 0;
  std::string host = {};
  std::vector<int> cores = {};          // those that this rank may run on
  std::uint64_t online_cores = 0;       // of the host
  std::string shared_directory = {};    // where node-shared memory lives
  std::uint64_t shared_bytes = 0;       // its size
  std::uint64_t shared_free_bytes = 0;  // of these free
  std::string kernels = {};             // "oneDNN 2.6.3, avx2"
  std::string hdf5 = {};
  std::string mpi = {};
};

// Something to repair, or to know.
struct Finding {
  bool is_broken = false;  // false: it works, though not as well as it could
  std::string problem = {};
  std::string remedy = {};
};

RankFacts facts_of_this_rank(const collectives::Topology& topology);

// Collective: every rank's facts, in the order of ranks, on every rank.
std::vector<RankFacts> gather_facts(const collectives::Communicator& all, const RankFacts& mine);

// More ranks than cores, ranks bound to the same core, little shared memory, different libraries or
// kernels.
std::vector<Finding> judge_placement(const std::vector<RankFacts>& ranks);

}  // namespace rubato::app
