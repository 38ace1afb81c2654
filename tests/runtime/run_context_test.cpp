// The record of a run, and what all ranks must agree on.
#include "runtime/run_context.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "collectives/communicator.hpp"
#include "nn/backend.hpp"
#include "tests/runtime/small_runs.hpp"

namespace rubato::runtime {
namespace {

template <class Entry>
std::string value_of(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  return found == entries.end() ? "(none)" : found->value;
}

class RunContextTest : public ::testing::Test {
 protected:
  RunContextTest() {
    options.configuration = "seed = 42\n";
    nn::select_kernels(nn::backend(options.backend), options.isa);
    source = data::open_data(options.data);
  }
  RunOptions options = testing::small_run();
  data::DataSource source;
};

TEST_F(RunContextTest, NamesProgramKernelsHostsDataAndOptions) {
  const auto world = collectives::Communicator::world();
  const collectives::Topology topology(world, 2);
  const auto context = run_context(options, topology, source);
  EXPECT_EQ(value_of(context, "version"), "0.1.0");
  EXPECT_EQ(value_of(context, "model"), "mlp:16");
  EXPECT_EQ(value_of(context, "configuration"), "seed = 42\n");
  EXPECT_NE(value_of(context, "kernels").find(nn::backend_names().front()), std::string::npos);
  EXPECT_EQ(value_of(context, "started").size(), std::string("2000-01-01T00:00:00Z").size());
  const std::string ranks = value_of(context, "ranks_per_host");
  EXPECT_EQ(std::ranges::count(ranks, ','),
            static_cast<std::ptrdiff_t>((world.size() + 1) / 2 - 1));
}

TEST_F(RunContextTest, AgreedValuesChangeWithOptionsAndData) {
  const auto before = agreed_values(options, source);
  options.configuration = "seed = 43\n";
  EXPECT_NE(value_of(agreed_values(options, source), "the options"),
            value_of(before, "the options"));
  options.data.spec = "digits";
  const auto other = agreed_values(options, data::open_data(options.data));
  EXPECT_NE(value_of(other, "the number of training samples"),
            value_of(before, "the number of training samples"));
  EXPECT_NE(value_of(other, "the data's standardisation"),
            value_of(before, "the data's standardisation"));
  EXPECT_EQ(value_of(other, "the kernels"), value_of(before, "the kernels"));
}

}  // namespace
}  // namespace rubato::runtime
