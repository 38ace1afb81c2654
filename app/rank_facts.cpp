// See rank_facts.hpp.
#include "app/rank_facts.hpp"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "collectives/mpi_library.hpp"
#include "collectives/node_memory.hpp"
#include "data/hdf5_handle.hpp"
#include "nn/backend.hpp"

namespace rubato::app {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFacts, rank, host, cores, online_cores, shared_directory,
                                   shared_bytes, shared_free_bytes, kernels, hdf5, mpi)

namespace {

constexpr std::uint64_t little_shared_bytes = std::uint64_t{64} << 20U;

std::vector<int> allowed_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &allowed)) cores.push_back(core);
  }
  return cores;
}

void look_into_shared_directory(RankFacts& facts) {
  facts.shared_directory = collectives::shared_memory_directory();
  struct statvfs status {};
  if (statvfs(facts.shared_directory.c_str(), &status) != 0) return;
  facts.shared_bytes = std::uint64_t{status.f_blocks} * status.f_frsize;
  facts.shared_free_bytes = std::uint64_t{status.f_bavail} * status.f_frsize;
}

std::vector<Finding> judge_host(const std::string& host, const std::vector<RankFacts>& ranks) {
  std::vector<Finding> findings;
  std::set<int> cores;
  for (const auto& facts : ranks) cores.insert(facts.cores.begin(), facts.cores.end());
  const std::string count = std::to_string(ranks.size()) + " ranks on " + host;
  const auto online = ranks.front().online_cores;
  if (ranks.size() > online) {
    findings.push_back({false, count + " share " + std::to_string(online) + " cores",
                        "start at most as many ranks as there are cores"});
  } else if (ranks.size() > cores.size()) {
    findings.push_back({false,
                        count + " are bound to " + std::to_string(cores.size()) + " of " +
                            std::to_string(online) + " cores",
                        "start with mpirun --bind-to none"});
  }
  if (ranks.size() > 1 && ranks.front().shared_free_bytes < little_shared_bytes) {
    findings.push_back(
        {false,
         ranks.front().shared_directory + " on " + host + " has only " +
             std::to_string(ranks.front().shared_free_bytes >> 20U) + " MiB free",
         "enlarge it, or set RUBATO_SHARED_MEMORY to a local directory with more room (for several "
         "hosts with mpirun -x RUBATO_SHARED_MEMORY)"});
  }
  return findings;
}

// All ranks must say the same of `what`: it decides over bits, or over whether they understand each
// other.
void require_equal(const std::vector<RankFacts>& ranks, const std::string& what,
                   std::string RankFacts::*fact, std::vector<Finding>& findings) {
  for (const auto& facts : ranks) {
    if (facts.*fact == ranks.front().*fact) continue;
    findings.push_back({true,
                        "different " + what + ": " + ranks.front().*fact + " on " +
                            ranks.front().host + ", " + facts.*fact + " on " + facts.host,
                        "install the same version on all hosts; for kernels use the same --isa"});
    return;
  }
}

}  // namespace

RankFacts facts_of_this_rank(const collectives::Topology& topology) {
  const auto kernels = nn::kernels(nn::backend("auto"));
  RankFacts facts;
  facts.rank = topology.all().rank();
  facts.host = topology.hosts()[topology.node_index()];
  facts.cores = allowed_cores();
  facts.online_cores = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  facts.kernels = kernels.version + ", " + kernels.isa;
  facts.hdf5 = data::hdf5_version();
  facts.mpi = collectives::mpi_library().name;
  look_into_shared_directory(facts);
  return facts;
}

std::vector<RankFacts> gather_facts(const collectives::Communicator& all, const RankFacts& mine) {
  std::vector<RankFacts> ranks;
  for (const auto& text : all.gather(nlohmann::json(mine).dump())) {
    ranks.push_back(nlohmann::json::parse(text).get<RankFacts>());
  }
  return ranks;
}

std::vector<Finding> judge_placement(const std::vector<RankFacts>& ranks) {
  std::map<std::string, std::vector<RankFacts>> hosts;
  for (const auto& facts : ranks) hosts[facts.host].push_back(facts);
  std::vector<Finding> findings;
  require_equal(ranks, "MPI libraries", &RankFacts::mpi, findings);
  require_equal(ranks, "compute kernels", &RankFacts::kernels, findings);
  require_equal(ranks, "HDF5 libraries", &RankFacts::hdf5, findings);
  for (const auto& [host, on_host] : hosts) {
    for (auto& finding : judge_host(host, on_host)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace rubato::app
