// When a sum asks MPI for what: MPI_Isend, MPI_Iallreduce and MPI_Allreduce are this program's own,
// which note the time of a call before they do it.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/clock_offset.hpp"
#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

struct Calls {
  std::vector<std::int64_t> begun;  // those that do not wait
  int waited_for = 0;
};

Calls& calls() {
  static Calls all;
  return all;
}

}  // namespace
}  // namespace rubato::optim

extern "C" int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag,
                         MPI_Comm ranks, MPI_Request* request) {
  rubato::optim::calls().begun.push_back(rubato::collectives::steady_nanoseconds());
  return PMPI_Isend(bytes, count, type, to, tag, ranks, request);
}

extern "C" int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type,
                              MPI_Op operation, MPI_Comm ranks, MPI_Request* request) {
  rubato::optim::calls().begun.push_back(rubato::collectives::steady_nanoseconds());
  return PMPI_Iallreduce(send, receive, count, type, operation, ranks, request);
}

extern "C" int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type,
                             MPI_Op operation, MPI_Comm ranks) {
  ++rubato::optim::calls().waited_for;
  return PMPI_Allreduce(send, receive, count, type, operation, ranks);
}

namespace rubato::optim {
namespace {

// All gradients are final at once, so that their first message is one of the last elements, too. To
// few others a rank sends all it says in one message each; among many there are two sums.
TEST(UpdateOnNetwork, WhatRanksSayIsOnItsWayBeforeTheLastGradients) {
  const collectives::Communicator world = collectives::Communicator::world();
  const collectives::Topology nodes_of_one(world, 1);
  const std::size_t ranks = world.size();
  const std::size_t messages = ranks > 4 ? 2 : ranks - 1;
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    GradientSync sync(nodes_of_one, tensors(), parameter_elements, total_elements, kind,
                      collectives::AllreduceAlgorithm::automatic);
    for (int update = 0; update < 3; ++update) {
      sync.begin(ranks, samples_in(ranks), 1);
      sync.accumulate({world.rank(), samples_of(world.rank()), 1, 1, 7},
                      gradient_sum(world.rank()));
      calls() = {};
      const UpdateSums sums = sync.sum();
      EXPECT_EQ(sums.correct, ranks);
      EXPECT_EQ(std::ranges::count(sync.audits(), 7U), static_cast<std::ptrdiff_t>(ranks));
      EXPECT_EQ(calls().waited_for, 0);
      const std::int64_t gradients_begin = sync.sum_times().network_begin;
      const auto is_before = [=](std::int64_t begun) { return begun < gradients_begin; };
      EXPECT_EQ(std::ranges::count_if(calls().begun, is_before),
                static_cast<std::ptrdiff_t>(messages));
      sync.barrier();
    }
  }
}

}  // namespace
}  // namespace rubato::optim
