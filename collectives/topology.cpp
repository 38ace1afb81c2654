// Nodes are numbered by their lowest rank; a node's name is that of its lowest rank's host.
#include "collectives/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "collectives/host_name.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/node_exchange.hpp"

namespace rubato::collectives {
namespace {

// One character per core of the host: '1' if this process may run on it.
std::string allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::string cores(CPU_SETSIZE, '0');
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
    return std::string(CPU_SETSIZE, '1');
  }
  for (std::size_t core = 0; core < cores.size(); ++core) {
    cores[core] = CPU_ISSET(core, &allowed) ? '1' : '0';
  }
  return cores;
}

bool outnumber_their_cores(const Communicator& host) {
  std::string any(CPU_SETSIZE, '0');
  for (const std::string& cores : host.gather(allowed_cores())) {
    std::transform(cores.begin(), cores.end(), any.begin(), any.begin(),
                   [](char left, char right) { return std::max(left, right); });
  }
  return host.size() > static_cast<std::size_t>(std::count(any.begin(), any.end(), '1'));
}

Communicator consecutive_ranks(const Communicator& all, const Communicator& host,
                               std::size_t ranks_per_node) {
  if (ranks_per_node == 0) {
    throw std::invalid_argument("a node of 0 ranks was asked for; at least 1 is needed");
  }
  const std::size_t leader = all.rank() / ranks_per_node * ranks_per_node;
  const std::string mine = host.broadcast(std::to_string(all.rank()), 0);
  const std::vector<std::string> host_of_rank = all.gather(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t first = rank / ranks_per_node * ranks_per_node;
    if (host_of_rank[rank] != host_of_rank[first]) {
      throw std::invalid_argument("ranks " + std::to_string(first) + " and " +
                                  std::to_string(rank) +
                                  " cannot form one node: they are on different hosts");
    }
  }
  return all.split(mpi_int(leader), mpi_int(all.rank()));
}

}  // namespace

Slice slice_of(std::size_t count, std::size_t index, std::size_t parts, std::size_t grain) {
  if (index >= parts || grain == 0) {
    throw std::invalid_argument("there is no slice " + std::to_string(index) + " of " +
                                std::to_string(parts) + " in grains of " + std::to_string(grain));
  }
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t longer = grains % parts;  // the first slices have one grain more
  const auto first_grain = [&](std::size_t part) {
    return grains / parts * part + std::min(part, longer);
  };
  const std::size_t begin = std::min(count, first_grain(index) * grain);
  const std::size_t end = std::min(count, first_grain(index + 1) * grain);
  return {begin, end - begin};
}

Topology::Topology(const Communicator& all)
    : Topology(all, all.split_by_node(), all.split_by_node()) {}

Topology::Topology(const Communicator& all, std::size_t ranks_per_node)
    : Topology(all, all.split_by_node(),
               consecutive_ranks(all, all.split_by_node(), ranks_per_node)) {}

Topology::Topology(const Communicator& all, Communicator host, Communicator node)
    : all_(all.duplicate()),
      node_(std::move(node)),
      is_oversubscribed_(outnumber_their_cores(host)) {
  const std::string leader = node_.broadcast(std::to_string(all_.rank()), 0);
  const std::vector<std::string> names = all_.gather(host_name());
  std::vector<std::string> leaders;  // of each node
  for (const std::string& each : all_.gather(leader)) {
    const auto found = std::find(leaders.begin(), leaders.end(), each);
    const auto index = static_cast<std::size_t>(found - leaders.begin());
    if (found == leaders.end()) {
      leaders.push_back(each);
      ranks_per_node_.push_back(0);
      hosts_.push_back(names[std::stoul(each)]);
    }
    places_.push_back({index, ranks_per_node_[index]++});
    if (each == leader) {
      node_index_ = index;
    }
  }
  slice_owners_ = *std::min_element(ranks_per_node_.begin(), ranks_per_node_.end());
  const std::size_t color = std::min(node_.rank(), slice_owners_);
  Communicator same_number = all_.split(mpi_int(color), mpi_int(node_index_));
  if (owns_slice()) {
    across_ = std::move(same_number);
  }
}

Slice Topology::my_slice(std::size_t count) const {
  return owns_slice() ? slice_of(count, node_.rank(), slice_owners_) : Slice{};
}

NodeExchange& Topology::node_exchange() const {
  if (!node_exchange_) {
    node_exchange_ = std::make_shared<NodeExchange>(*this);
  }
  return *node_exchange_;
}

}  // namespace rubato::collectives
