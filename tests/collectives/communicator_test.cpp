#include "collectives/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <type_traits>
#include <utility>

#include "collectives/mpi_count.hpp"
#include "collectives/mpi_error.hpp"

namespace rubato::collectives {
namespace {

using testing::HasSubstr;

static_assert(!std::is_copy_constructible_v<Communicator>);
static_assert(!std::is_copy_assignable_v<Communicator>);
static_assert(std::is_nothrow_move_constructible_v<Communicator>);
static_assert(std::is_nothrow_move_assignable_v<Communicator>);

TEST(Communicator, WorldHasTheRanksOfTheJobOnACommunicatorOfItsOwn) {
  const Communicator world = Communicator::world();
  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EXPECT_EQ(world.rank(), static_cast<std::size_t>(rank));
  EXPECT_EQ(world.size(), static_cast<std::size_t>(size));
  int comparison = MPI_IDENT;
  MPI_Comm_compare(world.handle(), MPI_COMM_WORLD, &comparison);
  EXPECT_EQ(comparison, MPI_CONGRUENT);
}

TEST(Communicator, AnInvalidRootIsAnExceptionThatNamesItsClass) {
  const Communicator world = Communicator::world();
  std::array<std::byte, 4> bytes{};
  try {
    world.broadcast(bytes, 99);
    FAIL() << "nothing was thrown";
  } catch (const MpiError& error) {
    EXPECT_EQ(error.error_class(), MPI_ERR_ROOT);
    EXPECT_EQ(error.call(), "MPI_Bcast");
    EXPECT_THAT(error.what(), HasSubstr("MPI_ERR_ROOT"));
    EXPECT_THAT(error.what(), HasSubstr("rank " + std::to_string(world.rank())));
  }
}

TEST(Communicator, PartsReturnErrorsToo) {
  const Communicator world = Communicator::world();
  const Communicator part = world.split(0, 0);
  const Communicator node = world.split_by_node();
  std::array<std::byte, 4> bytes{};
  EXPECT_THROW(part.broadcast(bytes, 99), MpiError);
  EXPECT_THROW(node.broadcast(bytes, 99), MpiError);
}

TEST(Communicator, MovingLeavesTheSourceEmpty) {
  Communicator source = Communicator::world();
  const std::size_t rank = source.rank();
  const std::size_t size = source.size();
  const MPI_Comm handle = source.handle();

  Communicator target(std::move(source));
  EXPECT_EQ(source.handle(), MPI_COMM_NULL);  // NOLINT: what a moved-from communicator is
  EXPECT_EQ(target.handle(), handle);
  EXPECT_EQ(target.rank(), rank);
  EXPECT_EQ(target.size(), size);

  Communicator assigned = Communicator::world();
  assigned = std::move(target);
  EXPECT_EQ(target.handle(), MPI_COMM_NULL);  // NOLINT
  EXPECT_EQ(assigned.handle(), handle);
  assigned.barrier();
}

TEST(Communicator, SplitGroupsByColorAndOrdersByKey) {
  const Communicator world = Communicator::world();
  const int color = static_cast<int>(world.rank() % 2);
  const int reversed = -static_cast<int>(world.rank());
  const Communicator part = world.split(color, reversed);
  const std::size_t evens = (world.size() + 1) / 2;
  const std::size_t size = color == 0 ? evens : world.size() - evens;
  EXPECT_EQ(part.size(), size);
  EXPECT_EQ(part.rank(), size - 1 - world.rank() / 2);
}

TEST(Communicator, BroadcastDeliversTheRootsBytesInChunks) {
  const Communicator world = Communicator::world();
  const ScopedMaxElementsPerCall limit(7);
  for (std::size_t root = 0; root < world.size(); ++root) {
    std::array<unsigned char, 50> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<unsigned char>(100 * world.rank() + i);
    }
    world.broadcast(std::as_writable_bytes(std::span(numbers)), root);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ(numbers[i], static_cast<unsigned char>(100 * root + i)) << "at " << i;
    }
  }
}

TEST(Communicator, BroadcastTextMayHaveAnyLength) {
  const Communicator world = Communicator::world();
  const std::size_t root = world.size() - 1;
  const std::string mine(1000 * world.rank(), static_cast<char>('a' + world.rank()));
  EXPECT_EQ(world.broadcast(mine, root), std::string(1000 * root, static_cast<char>('a' + root)));
  EXPECT_EQ(world.broadcast(std::string(), root), "");
}

TEST(Communicator, GatherGivesEveryRanksTextToAll) {
  const Communicator world = Communicator::world();
  const auto text_of = [](std::size_t rank) {
    return std::string(rank, 'x') + std::to_string(rank);
  };
  const std::vector<std::string> texts = world.gather(text_of(world.rank()));
  ASSERT_EQ(texts.size(), world.size());
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    EXPECT_EQ(texts[rank], text_of(rank));
  }
}

TEST(Communicator, SumAndMaximumCombineInChunks) {
  const Communicator world = Communicator::world();
  const ScopedMaxElementsPerCall limit(3);
  std::array<double, 10> sums{};
  std::array<std::int64_t, 10> maxima{};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = static_cast<double>((world.rank() + 1) * (i + 1)) / 4;
    // The rank with the largest number differs by position.
    maxima[i] = static_cast<std::int64_t>((world.rank() + i) % world.size());
  }
  world.sum(sums);
  world.maximum(maxima);
  const std::size_t ranks = world.size();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], static_cast<double>(ranks * (ranks + 1) / 2 * (i + 1)) / 4);
    EXPECT_EQ(maxima[i], static_cast<std::int64_t>(ranks - 1));
  }
}

TEST(Communicator, IntegerSumsAndRealMaximaCombineToo) {
  const Communicator world = Communicator::world();
  std::array<std::int64_t, 1> sum{std::int64_t{1} << (40 + world.rank())};
  std::array<double, 2> maxima{-static_cast<double>(world.rank()) - 0.5,
                               static_cast<double>(world.rank())};
  world.sum(sum);
  world.maximum(maxima);
  EXPECT_EQ(sum[0], ((std::int64_t{1} << world.size()) - 1) << 40);
  EXPECT_EQ(maxima[0], -0.5);
  EXPECT_EQ(maxima[1], static_cast<double>(world.size() - 1));
}

}  // namespace
}  // namespace rubato::collectives
