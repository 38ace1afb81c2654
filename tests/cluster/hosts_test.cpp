// What a run over several hosts rests on: the topology tells hosts apart, and every allreduce gives
// the closed-form sum when some of its ranks are reached over TCP. run_on_hosts.sh starts this
// program and says in RUBATO_TEST_HOSTS how many hosts there are.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "collectives/allreduce.hpp"
#include "collectives/communicator.hpp"
#include "collectives/topology.hpp"

namespace rubato::collectives {
namespace {

std::size_t expected_hosts() {
  const char* text = std::getenv("RUBATO_TEST_HOSTS");
  return text == nullptr ? 0 : std::stoul(text);
}

class Hosts : public testing::Test {
 protected:
  const Communicator world_ = Communicator::world();
  const Topology topology_{world_};
};

TEST_F(Hosts, AreNodesWithNamesOfTheirOwn) {
  ASSERT_EQ(topology_.node_count(), expected_hosts());
  for (std::size_t node = 0; node < topology_.node_count(); ++node) {
    EXPECT_EQ(topology_.hosts()[node], "host" + std::to_string(node));
  }
}

TEST_F(Hosts, HaveTheSameNumberOfRanksEach) {
  const std::size_t ranks_per_host = world_.size() / expected_hosts();
  const std::vector<std::size_t> expected(expected_hosts(), ranks_per_host);
  EXPECT_EQ(topology_.ranks_per_node(), expected);
  EXPECT_EQ(topology_.node_index(), world_.rank() / ranks_per_host);
  EXPECT_EQ(topology_.node().size(), ranks_per_host);
}

// Element i of rank r is (r+1)(i+1); over P ranks the sum is (i+1) P(P+1)/2.
template <class T>
void expect_closed_form_sum(const Topology& topology, std::size_t count, const std::string& name) {
  const std::size_t ranks = topology.all().size();
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((topology.all().rank() + 1) * (i + 1));
  }
  allreduce(topology, std::span<T>(values), allreduce_algorithm(name));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    wrong += values[i] == static_cast<T>((i + 1) * ranks * (ranks + 1) / 2) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << name << " with " << count << " elements";
}

TEST_F(Hosts, SumExactlyByEveryAlgorithm) {
  for (const std::string& name : allreduce_algorithm_names()) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{4095}, 3 * block_elements + 17}) {
      expect_closed_form_sum<std::int64_t>(topology_, count, name);
      expect_closed_form_sum<double>(topology_, count, name);
      expect_closed_form_sum<float>(topology_, count, name);
    }
  }
}

}  // namespace
}  // namespace rubato::collectives
