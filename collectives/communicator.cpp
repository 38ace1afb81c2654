// Thin calls into MPI: every count goes through mpi_count.hpp, every return code through check_mpi.
#include "collectives/communicator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"
#include "collectives/mpi_type.hpp"

namespace rubato::collectives {
namespace {

MPI_Comm duplicate_handle(MPI_Comm original) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(original, &copy), "MPI_Comm_dup");
  return copy;
}

void free_quietly(MPI_Comm handle) noexcept {
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (handle != MPI_COMM_NULL && is_finalized == 0) {
    MPI_Comm_free(&handle);
  }
}

template <class T>
void combine_in_place(MPI_Comm handle, std::span<T> values, MPI_Op operation) {
  for_each_chunk(values.size(), [&](std::size_t begin, std::size_t size) {
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data() + begin, mpi_int(size), mpi_type<T>(),
                            operation, handle),
              "MPI_Allreduce");
  });
}

}  // namespace

Communicator::Communicator(MPI_Comm owned) : handle_(owned) {
  check_mpi(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(handle_, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(handle_, &size), "MPI_Comm_size");
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
}

Communicator Communicator::world() { return duplicate_of(MPI_COMM_WORLD); }

Communicator Communicator::duplicate_of(MPI_Comm original) {
  return Communicator(duplicate_handle(original));
}

Communicator::Communicator(Communicator&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_COMM_NULL)),
      rank_(std::exchange(other.rank_, 0)),
      size_(std::exchange(other.size_, 0)) {}

Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) {
    free_quietly(handle_);
    handle_ = std::exchange(other.handle_, MPI_COMM_NULL);
    rank_ = std::exchange(other.rank_, 0);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Communicator::~Communicator() { free_quietly(handle_); }

Communicator Communicator::duplicate() const { return duplicate_of(handle_); }

Communicator Communicator::split_by_node() const {
  MPI_Comm node = MPI_COMM_NULL;
  check_mpi(
      MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, mpi_int(rank_), MPI_INFO_NULL, &node),
      "MPI_Comm_split_type");
  return Communicator(node);
}

Communicator Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(handle_, color, key, &part), "MPI_Comm_split");
  return Communicator(part);
}

void Communicator::barrier() const { check_mpi(MPI_Barrier(handle_), "MPI_Barrier"); }

void Communicator::broadcast(std::span<std::byte> bytes, std::size_t root) const {
  for_each_chunk(bytes.size(), [&](std::size_t begin, std::size_t size) {
    check_mpi(MPI_Bcast(bytes.data() + begin, mpi_int(size), MPI_BYTE, mpi_int(root), handle_),
              "MPI_Bcast");
  });
}

std::string Communicator::broadcast(const std::string& text, std::size_t root) const {
  std::uint64_t length = text.size();
  broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
  std::string received = rank_ == root ? text : std::string();
  received.resize(length);
  broadcast(std::as_writable_bytes(std::span(received)), root);
  return received;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  const int length = mpi_int(text.size());
  std::vector<int> lengths(size_);
  check_mpi(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, handle_),
            "MPI_Allgather");
  const std::size_t total = std::accumulate(
      lengths.begin(), lengths.end(), std::size_t{0},
      [](std::size_t sum, int each) { return sum + static_cast<std::size_t>(each); });
  mpi_int(total);  // the last begin must fit, too
  std::vector<int> begins(size_);
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), 0);
  std::string joined(total, '\0');
  check_mpi(MPI_Allgatherv(text.data(), length, MPI_CHAR, joined.data(), lengths.data(),
                           begins.data(), MPI_CHAR, handle_),
            "MPI_Allgatherv");
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < size_; ++rank) {
    texts.push_back(joined.substr(static_cast<std::size_t>(begins[rank]),
                                  static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

void Communicator::sum(std::span<double> values) const {
  combine_in_place(handle_, values, MPI_SUM);
}
void Communicator::sum(std::span<std::int64_t> values) const {
  combine_in_place(handle_, values, MPI_SUM);
}
void Communicator::maximum(std::span<double> values) const {
  combine_in_place(handle_, values, MPI_MAX);
}
void Communicator::maximum(std::span<std::int64_t> values) const {
  combine_in_place(handle_, values, MPI_MAX);
}

}  // namespace rubato::collectives
