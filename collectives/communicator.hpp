// A group of ranks: a move-only owner of a duplicated MPI communicator.
//
// Ours is a duplicate, so that our messages never meet those of the program that embeds us, and it
// returns errors (MPI_ERRORS_RETURN) instead of ending the job. The destructor frees the handle and
// never throws; copying is spelled out as duplicate(), because it is collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rubato::collectives {

class Communicator {
 public:
  static Communicator world();  // collective over all ranks: a duplicate of MPI_COMM_WORLD
  static Communicator duplicate_of(
      MPI_Comm);  // collective over its ranks: for programs that embed us

  Communicator(
      Communicator&&) noexcept;  // the source is left empty: rank and size of it may not be asked
  Communicator& operator=(Communicator&&) noexcept;  // frees the handle held before
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();  // frees the handle, unless MPI has already been finalized

  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return size_; }
  MPI_Comm handle() const noexcept { return handle_; }

  // Collective. New communicators: the ranks that share this one's memory; the ranks that pass the
  // same color, in order of key.
  Communicator duplicate() const;
  Communicator split_by_node() const;
  Communicator split(int color, int key) const;

  // Collective. Small agreements; all ranks must pass the same count. Counts above what MPI's int
  // holds are chunked.
  void barrier() const;
  void broadcast(std::span<std::byte> bytes, std::size_t root) const;
  std::string broadcast(const std::string& text,
                        std::size_t root) const;  // any length; only root's text counts
  std::vector<std::string> gather(
      const std::string& text) const;  // every rank gets every rank's text
  void sum(std::span<double> values) const;
  void sum(std::span<std::int64_t> values) const;
  void maximum(std::span<double> values) const;
  void maximum(std::span<std::int64_t> values) const;

 private:
  explicit Communicator(MPI_Comm owned);

  MPI_Comm handle_ = MPI_COMM_NULL;
  std::size_t rank_ = 0;
  std::size_t size_ = 0;
};

}  // namespace rubato::collectives
