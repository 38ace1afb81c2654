// Every region is asked for with room to align it: MPI promises no alignment beyond its own types.
#include "collectives/node_memory.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "collectives/agreement.hpp"
#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"

namespace rubato::collectives {

struct NodeMemory::Regions {
  std::vector<std::span<std::byte>> of_rank;
};

namespace {

constexpr std::size_t alignment = 64;

// The directory of Open MPI's shared windows, as its environment says. (MPI's tool interface would
// know it from wherever it was set, but in Open MPI 4.1.4 a MPI_T_init_thread/MPI_T_finalize pair
// between windows makes a later window hang.)
std::string backing_directory() {
  const char* const set = std::getenv("OMPI_MCA_osc_sm_backing_directory");
  return set != nullptr && *set != '\0' ? set : "/dev/shm";
}

// A sentence that says why `needed_bytes` cannot be had on this node; empty if they can.
std::string shortage(const Topology& topology, std::size_t needed_bytes) {
  const std::string directory = backing_directory();
  struct statvfs status {};
  const std::string where = "node-shared memory on " + topology.hosts()[topology.node_index()];
  const std::string cure =
      "; set OMPI_MCA_osc_sm_backing_directory"
      " to a local directory with more room, or enlarge it";
  if (statvfs(directory.c_str(), &status) != 0) {
    return where + ": cannot look into " + directory + ": " + std::strerror(errno) + cure;
  }
  const std::size_t free_bytes = status.f_bavail * status.f_frsize;
  if (needed_bytes <= free_bytes) {
    return {};
  }
  const auto in_mib = [](std::size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  return where + ": " + directory + " has " + in_mib(free_bytes) + " free, but " +
         in_mib(needed_bytes) + " are needed" + cure;
}

// The lowest rank's shortage becomes the failure of all ranks.
void require_room(const Topology& topology, std::size_t node_bytes) {
  const bool asks = topology.node().rank() == 0 && topology.node().size() > 1;
  const std::string mine = asks ? shortage(topology, node_bytes) : std::string();
  std::array<std::int64_t, 1> shortages{mine.empty() ? 0 : 1};
  topology.all().maximum(shortages);
  if (shortages[0] == 0) {
    return;
  }
  const std::vector<std::string> problems = topology.all().gather(mine);
  throw AgreedFailure({71, *std::ranges::find_if_not(problems, &std::string::empty)});
}

MPI_Win allocate_window(const Communicator& node, std::size_t bytes) {
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  check_mpi(MPI_Info_set(info, "alloc_shared_noncontig", "true"), "MPI_Info_set");
  void* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  const int code =
      MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, info, node.handle(), &base, &window);
  MPI_Info_free(&info);
  check_mpi(code, "MPI_Win_allocate_shared");
  check_mpi(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  return window;
}

std::byte* region_begin(MPI_Win window, std::size_t node_rank, std::size_t bytes) {
  MPI_Aint size = 0;
  int unit = 0;
  void* base = nullptr;
  check_mpi(MPI_Win_shared_query(window, mpi_int(node_rank), &size, &unit, &base),
            "MPI_Win_shared_query");
  auto room = static_cast<std::size_t>(size);
  std::align(alignment, bytes, base, room);  // mappings begin at pages: all ranks agree
  return static_cast<std::byte*>(base);
}

std::vector<std::size_t> sizes_on_node(const Communicator& node, std::size_t bytes) {
  std::vector<std::size_t> sizes;
  for (const std::string& size : node.gather(std::to_string(bytes))) {
    sizes.push_back(std::stoull(size));
  }
  return sizes;
}

}  // namespace

NodeMemory::NodeMemory(const Topology& topology, std::size_t bytes) {
  const std::vector<std::size_t> sizes = sizes_on_node(topology.node(), bytes);
  require_room(topology, std::accumulate(sizes.begin(), sizes.end(), sizes.size() * alignment));
  auto regions = std::make_unique<Regions>();
  window_ = allocate_window(topology.node(), bytes + alignment);
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    regions->of_rank.emplace_back(region_begin(window_, rank, sizes[rank]), sizes[rank]);
  }
  regions_ = regions.release();
  std::ranges::fill(region(topology.node().rank()),
                    std::byte{0});  // takes the pages, near this core
  topology.node().barrier();
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept
    : window_(std::exchange(other.window_, MPI_WIN_NULL)),
      regions_(std::exchange(other.regions_, nullptr)) {}

NodeMemory& NodeMemory::operator=(NodeMemory&& other) noexcept {
  std::swap(window_, other.window_);
  std::swap(regions_, other.regions_);
  return *this;
}

NodeMemory::~NodeMemory() {
  delete regions_;
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  const bool is_alone = std::uncaught_exceptions() > 0 && !AgreedFailure::is_under_way();
  if (window_ != MPI_WIN_NULL && is_finalized == 0 && !is_alone) MPI_Win_free(&window_);
}

std::span<std::byte> NodeMemory::region(std::size_t node_rank) const {
  return regions_->of_rank.at(node_rank);
}

}  // namespace rubato::collectives
