// Every region is asked for with room to align it: MPI promises no alignment beyond its own types.
#include "collectives/node_memory.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
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
constexpr const char* backing_setting = "osc_sm_backing_directory";

// The value of one of Open MPI's string settings, from wherever it was set; `fallback` if this MPI
// library does not have it.
std::string mpi_setting(const char* name, const std::string& fallback) {
  int level = MPI_THREAD_SINGLE;  // Open MPI takes the level asked for here for that of MPI itself
  int index = 0;
  std::string value = fallback;
  MPI_Query_thread(&level);
  if (MPI_T_init_thread(level, &level) != MPI_SUCCESS) {
    return value;
  }
  MPI_T_cvar_handle handle = nullptr;
  int length = 0;
  if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &length) == MPI_SUCCESS) {
    std::vector<char> text(std::max<std::size_t>(4096, static_cast<std::size_t>(length) + 1), '\0');
    if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS && text[0] != '\0') {
      value = text.data();
    }
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

// A sentence that says why `needed_bytes` cannot be had on this node; empty if they can.
std::string shortage(const Topology& topology, double needed_bytes) {
  const std::string directory = mpi_setting(backing_setting, "/dev/shm");
  struct statvfs status {};
  const std::string where = "node-shared memory on " + topology.hosts()[topology.node_index()];
  const std::string cure = std::string("; set OMPI_MCA_") + backing_setting +
                           " to a local directory with more room, or enlarge it";
  if (statvfs(directory.c_str(), &status) != 0) {
    return where + ": cannot look into " + directory + ": " + std::strerror(errno) + cure;
  }
  const double free_bytes =
      static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  if (needed_bytes <= free_bytes) {
    return {};
  }
  const auto in_mib = [](double bytes) {
    return std::to_string(static_cast<long long>(bytes / 1048576));
  };
  return where + ": " + directory + " has " + in_mib(free_bytes) + " MiB free, but " +
         in_mib(needed_bytes) + " MiB are needed" + cure;
}

// The lowest rank's shortage becomes the failure of all ranks.
void require_room(const Topology& topology, std::size_t bytes) {
  std::array<double, 1> node_bytes{static_cast<double>(bytes)};
  topology.node().sum(node_bytes);
  const bool asks = topology.node().rank() == 0 && topology.node().size() > 1;
  const std::string mine = asks ? shortage(topology, node_bytes[0]) : std::string();
  for (const std::string& problem : topology.all().gather(mine)) {
    if (!problem.empty()) {
      throw AgreedFailure({71, problem});
    }
  }
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
  require_room(topology, bytes + alignment);
  auto regions = std::make_unique<Regions>();
  const std::vector<std::size_t> sizes = sizes_on_node(topology.node(), bytes);
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
  if (window_ != MPI_WIN_NULL && is_finalized == 0 && std::uncaught_exceptions() == 0) {
    MPI_Win_free(&window_);
  }
}

std::span<std::byte> NodeMemory::region(std::size_t node_rank) const {
  return regions_->of_rank.at(node_rank);
}

}  // namespace rubato::collectives
