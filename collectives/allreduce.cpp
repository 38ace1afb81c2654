// Names, the choice by size, and the way to each algorithm's own file.
#include "collectives/allreduce.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "collectives/mpi_sum.hpp"
#include "collectives/node_exchange.hpp"
#include "collectives/recursive_doubling.hpp"
#include "collectives/ring.hpp"

namespace rubato::collectives {
namespace {

struct NamedAlgorithm {
  const char* name;
  AllreduceAlgorithm algorithm;
};
constexpr std::array named_algorithms{
    NamedAlgorithm{"auto", AllreduceAlgorithm::automatic},
    NamedAlgorithm{"library", AllreduceAlgorithm::library},
    NamedAlgorithm{"ring", AllreduceAlgorithm::ring},
    NamedAlgorithm{"recursive-doubling", AllreduceAlgorithm::recursive_doubling},
    NamedAlgorithm{"node-shared", AllreduceAlgorithm::node_shared},
};

// Below this size the number of steps counts, above it the number of bytes.
constexpr std::size_t short_array_bytes = 32 * 1024;

std::string joined_names() {
  std::string joined;
  for (const NamedAlgorithm& each : named_algorithms) {
    joined += (joined.empty() ? "" : ", ") + std::string(each.name);
  }
  return joined;
}

}  // namespace

AllreduceAlgorithm allreduce_algorithm(const std::string& name) {
  for (const NamedAlgorithm& each : named_algorithms) {
    if (name == each.name) {
      return each.algorithm;
    }
  }
  throw std::invalid_argument("unknown allreduce algorithm '" + name + "'; valid names are " +
                              joined_names());
}

std::string to_string(AllreduceAlgorithm algorithm) {
  return std::ranges::find(named_algorithms, algorithm, &NamedAlgorithm::algorithm)->name;
}

std::vector<std::string> allreduce_algorithm_names() {
  std::vector<std::string> names;
  for (const NamedAlgorithm& each : named_algorithms) {
    names.emplace_back(each.name);
  }
  return names;
}

AllreduceAlgorithm chosen_algorithm(const Topology& topology, AllreduceAlgorithm algorithm,
                                    std::size_t bytes) {
  if (algorithm != AllreduceAlgorithm::automatic) {
    return algorithm;
  }
  const bool share_memory = std::ranges::max(topology.ranks_per_node()) > 1;
  if (share_memory || topology.all().size() == 1) {
    return AllreduceAlgorithm::node_shared;
  }
  return bytes <= short_array_bytes ? AllreduceAlgorithm::recursive_doubling
                                    : AllreduceAlgorithm::ring;
}

template <class T>
void allreduce(const Topology& topology, std::span<T> data, AllreduceAlgorithm algorithm) {
  if (topology.all().size() == 1) {
    return;
  }
  switch (chosen_algorithm(topology, algorithm, data.size_bytes())) {
    case AllreduceAlgorithm::ring:
      return ring_sum(topology.all(), data);
    case AllreduceAlgorithm::recursive_doubling:
      return recursive_doubling_sum(topology.all(), data);
    case AllreduceAlgorithm::node_shared:
      return topology.node_exchange().sum(topology, data);
    case AllreduceAlgorithm::library:
    case AllreduceAlgorithm::automatic:
      return mpi_sum(topology.all(), data);
  }
}

template void allreduce(const Topology&, std::span<float>, AllreduceAlgorithm);
template void allreduce(const Topology&, std::span<double>, AllreduceAlgorithm);
template void allreduce(const Topology&, std::span<std::int64_t>, AllreduceAlgorithm);

}  // namespace rubato::collectives
