// Every algorithm, on every way to cut the job into nodes, against the closed sum and against a
// reference that gathers all arrays and adds them one by one.
#include "collectives/allreduce.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "collectives/mpi_count.hpp"
#include "rank_pattern.hpp"

namespace rubato::collectives {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AllreduceOf : public testing::TestWithParam<std::string> {
 protected:
  AllreduceAlgorithm algorithm() const { return allreduce_algorithm(GetParam()); }

  template <class T>
  void expect_closed_sums(const Topology& topology, std::size_t count) const {
    std::vector<T> data = pattern<T>(topology.all().rank(), count);
    allreduce<T>(topology, data, algorithm());
    EXPECT_EQ(wrong_sums<T>(data, topology.all().size()), 0)
        << count << " elements of " << sizeof(T) << " bytes, " << topology.node_count() << " nodes";
  }

  template <class T>
  void expect_closed_sums() const {
    for (const Topology& topology : real_and_pretended_topologies()) {
      for (const std::size_t count : interesting_counts) {
        expect_closed_sums<T>(topology, count);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Algorithms, AllreduceOf, testing::ValuesIn(allreduce_algorithm_names()),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(AllreduceOf, FloatsIsTheSumOverAllRanks) { expect_closed_sums<float>(); }
TEST_P(AllreduceOf, DoublesIsTheSumOverAllRanks) { expect_closed_sums<double>(); }
TEST_P(AllreduceOf, IntegersIsTheSumOverAllRanks) { expect_closed_sums<std::int64_t>(); }

TEST_P(AllreduceOf, IntegersKeepsAllBits) {
  const Topology& topology = real_topology();
  std::vector<std::int64_t> data(5, (std::int64_t{1} << 58) + 1);
  allreduce<std::int64_t>(topology, data, algorithm());
  const auto ranks = static_cast<std::int64_t>(topology.all().size());
  EXPECT_THAT(data, testing::Each(ranks * ((std::int64_t{1} << 58) + 1)));
}

TEST_P(AllreduceOf, LongArraysIsCutIntoMpiCalls) {
  const ScopedMaxElementsPerCall limit(1000);
  for (const Topology& topology : real_and_pretended_topologies()) {
    expect_closed_sums<float>(topology, 10'007);
    expect_closed_sums<float>(topology, 2000);
  }
}

TEST_P(AllreduceOf, ManyArraysInSuccessionDoesNotMixThem) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    for (std::size_t round = 0; round < 30; ++round) {
      expect_closed_sums<float>(topology, round % 7 * 4000 + round);
    }
  }
}

float rough_value(std::size_t rank, std::size_t position) {
  const auto seed = static_cast<float>(7 * rank + position);
  return std::sin(seed) * std::pow(10.0F, static_cast<float>((rank + position) % 5));
}

TEST_P(AllreduceOf, RoundedNumbersGivesAllRanksTheSameBitsNearTheReference) {
  for (const Topology& topology : real_and_pretended_topologies()) {
    std::vector<float> data(10'000);
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = rough_value(topology.all().rank(), i);
    }
    allreduce<float>(topology, data, algorithm());
    std::vector<float> of_rank_0 = data;
    topology.all().broadcast(std::as_writable_bytes(std::span(of_rank_0)), 0);
    EXPECT_EQ(std::memcmp(data.data(), of_rank_0.data(), data.size() * sizeof(float)), 0);
    for (std::size_t i = 0; i < data.size(); ++i) {
      double expected = 0;
      for (std::size_t rank = 0; rank < topology.all().size(); ++rank) {
        expected += static_cast<double>(rough_value(rank, i));
      }
      ASSERT_NEAR(static_cast<double>(data[i]), expected, 0.01) << "at " << i;
    }
  }
}

TEST(Allreduce, OnOneNodeAddsInTheOrderOfTheRanks) {
  const Topology& topology = real_topology();
  std::vector<float> data(50'000);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = rough_value(topology.all().rank(), i);
  }
  allreduce<float>(topology, data, AllreduceAlgorithm::node_shared);
  for (std::size_t i = 0; i < data.size(); ++i) {
    float expected = rough_value(0, i);
    for (std::size_t rank = 1; rank < topology.all().size(); ++rank) {
      expected += rough_value(rank, i);
    }
    ASSERT_EQ(data[i], expected) << "at " << i;
  }
}

TEST(Allreduce, NamesAreReadAndWritten) {
  EXPECT_THAT(allreduce_algorithm_names(),
              ElementsAre("auto", "library", "ring", "recursive-doubling", "node-shared"));
  for (const std::string& name : allreduce_algorithm_names()) {
    EXPECT_EQ(to_string(allreduce_algorithm(name)), name);
  }
  try {
    allreduce_algorithm("rign");
    FAIL() << "nothing was thrown";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("'rign'"));
    EXPECT_THAT(error.what(), HasSubstr("auto, library, ring, recursive-doubling, node-shared"));
  }
}

TEST(Allreduce, AutomaticSharesMemoryWhereItCan) {
  const Communicator world = Communicator::world();
  const auto automatic = [](const Topology& topology, std::size_t bytes) {
    return to_string(chosen_algorithm(topology, AllreduceAlgorithm::automatic, bytes));
  };
  EXPECT_EQ(automatic(real_topology(), 4), "node-shared");
  const Topology lonely_ranks(world, 1);
  const bool is_alone = world.size() == 1;
  EXPECT_EQ(automatic(lonely_ranks, 4), is_alone ? "node-shared" : "recursive-doubling");
  EXPECT_EQ(automatic(lonely_ranks, 1 << 20), is_alone ? "node-shared" : "ring");
  EXPECT_EQ(chosen_algorithm(lonely_ranks, AllreduceAlgorithm::library, 4),
            AllreduceAlgorithm::library);
}

}  // namespace
}  // namespace rubato::collectives
