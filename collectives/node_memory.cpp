// One file for each node, which all its ranks map as a whole: their regions follow each other in
// it. It has a name only until they have opened it and no memory before, lest a job that is killed
// leave any behind.
#include "collectives/node_memory.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "collectives/agreement.hpp"

namespace rubato::collectives {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string in_mib(std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

class SharedFile {
 public:
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  ~SharedFile() {
    if (descriptor_ >= 0) close(descriptor_);
    take_name_away();
  }

  // The job's number in its name is for app/mpi_leftovers.
  void create(std::size_t bytes) {
    const char* const job = std::getenv("PMIX_NAMESPACE");
    name_ = shared_memory_directory() + "/rubato." + (job == nullptr ? "alone" : job) + ".XXXXXX";
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot create " + name_);
    is_creator_ = true;
    if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail("cannot enlarge " + name_);
  }

  void open(const std::string& name) {
    name_ = name;
    descriptor_ = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot open " + name);
  }

  void take_name_away() {
    if (is_creator_) unlink(name_.c_str());
    is_creator_ = false;
  }

  // Later want of memory would be a bus error. In pieces, as a signal undoes a call as a whole: one
  // of a profiler's timer would undo each that takes longer than it lets pass.
  void take_room(std::size_t begin, std::size_t bytes) const {
    if (descriptor_ < 0) return;
    for (const std::size_t end = begin + bytes; begin < end; begin += huge_page_bytes) {
      const std::size_t piece = std::min(huge_page_bytes, end - begin);
      do {
        errno = posix_fallocate(descriptor_, static_cast<off_t>(begin), static_cast<off_t>(piece));
      } while (errno == EINTR);
      if (errno != 0) {
        fail("cannot take " + in_mib(bytes) + " of " +
             std::filesystem::path(name_).parent_path().string());
      }
    }
  }

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }

 private:
  int descriptor_ = MappedMemory::no_file;
  std::string name_;
  bool is_creator_ = false;
};

// Before any is taken, and with figures; but others may take what is free now.
void require_room(const std::vector<std::size_t>& sizes) {
  std::size_t needed_bytes = 0;
  for (const std::size_t size : sizes) needed_bytes += in_whole_pages(size);
  const std::string directory = shared_memory_directory();
  struct statvfs status {};
  if (statvfs(directory.c_str(), &status) != 0) fail("cannot look into " + directory);
  const std::size_t free_bytes = status.f_bavail * status.f_frsize;
  if (needed_bytes <= free_bytes) return;
  throw std::runtime_error(directory + " has " + in_mib(free_bytes) + " free, but " +
                           in_mib(needed_bytes) + " are needed");
}

// Where the regions of such sizes lie in the file, and the end of the last. One that has huge pages
// begins at one. Holes before it take no memory.
std::vector<std::size_t> places_of(const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> places;
  std::size_t end = 0;
  for (const std::size_t size : sizes) {
    places.push_back(round_up(end, pages_of(size)));
    end = places.back() + in_whole_pages(size);
  }
  places.push_back(std::max(end, page_bytes));
  return places;
}

constexpr const char* more_room =
    "; set RUBATO_SHARED_MEMORY to a local directory with more room (for several hosts with mpirun "
    "-x RUBATO_SHARED_MEMORY), or enlarge it";
constexpr const char* one_for_all_ranks =
    "; set RUBATO_SHARED_MEMORY to a directory that all ranks of the host have in common";

// agree() adds on which host, if not on all.
Explain missing_memory(const std::string& cure) {
  return [cure](std::exception_ptr error) -> Failure {
    return {71, "node-shared memory: " + plain_failure(std::move(error)).message + cure};
  };
}

// Collective over all ranks. When it is over, all ranks of a node have its file open, and it has
// no name. A node of one rank has none.
void open_on_node(const Topology& topology, const std::vector<std::size_t>& sizes,
                  std::size_t bytes, SharedFile& file) {
  const Communicator& node = topology.node();
  const bool is_creator = node.rank() == 0 && node.size() > 1;
  const auto create = [&] {
    if (!is_creator) return;
    require_room(sizes);
    file.create(bytes);
  };
  agree(topology.all(), create, missing_memory(more_room));
  const std::string name = node.broadcast(file.name(), 0);
  const auto open = [&] {
    if (node.rank() != 0) file.open(name);
  };
  agree(topology.all(), open, missing_memory(one_for_all_ranks));
  file.take_name_away();
  node.barrier();
}

}  // namespace

std::string shared_memory_directory() {
  const char* const set = std::getenv("RUBATO_SHARED_MEMORY");
  return set != nullptr && *set != '\0' ? set : "/dev/shm";
}

NodeMemory::NodeMemory(const Topology& topology, std::size_t bytes) {
  const Communicator& node = topology.node();
  std::vector<std::size_t> sizes;
  for (const std::string& size : node.gather(std::to_string(bytes))) {
    sizes.push_back(std::stoull(size));
  }
  const std::vector<std::size_t> places = places_of(sizes);
  SharedFile file;
  open_on_node(topology, sizes, places.back(), file);
  const auto map = [&] { memory_ = MappedMemory(file.descriptor(), places.back()); };
  agree(topology.all(), map, missing_memory(""));
  const auto take = [&] {
    const std::size_t begin = places[node.rank()];
    file.take_room(begin, in_whole_pages(bytes));
    take_pages(memory_.bytes().subspan(begin, in_whole_pages(bytes)));
  };
  agree(topology.all(), take, missing_memory(more_room));
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    regions_.push_back(memory_.bytes().subspan(places[rank], sizes[rank]));
  }
}

}  // namespace rubato::collectives
