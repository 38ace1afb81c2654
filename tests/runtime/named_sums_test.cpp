#include "runtime/named_sums.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "data/errors.hpp"

namespace rubato::runtime {
namespace {

TEST(NamedSums, AreSummedExactlyOverTheRanks) {
  const auto world = collectives::Communicator::world();
  const auto rank = static_cast<double>(world.rank());
  const auto ranks = static_cast<double>(world.size());
  NamedSums one;
  NamedSums other;
  one["all"] += rank + 1;
  one["of " + std::to_string(world.rank())] += 7;
  one["cancelled"] += world.rank() == 0 ? 1e100 : 0;
  one["cancelled"] += 0.5;
  one["cancelled"] -= world.rank() + 1 == world.size() ? 1e100 : 0;
  other["all"] += -1;
  const std::array<NamedSums*, 2> both{&one, &other};
  sum_over_ranks(world, both);
  EXPECT_EQ(one.at("all"), ranks * (ranks + 1) / 2);
  EXPECT_EQ(one.at("cancelled"), ranks / 2);
  EXPECT_EQ(one.size(), 2 + world.size());
  EXPECT_EQ(one.at("of " + std::to_string(world.size() - 1)), 7);
  EXPECT_EQ(other.size(), 1U);
  EXPECT_EQ(other.at("all"), -ranks);
}

TEST(NamedSums, ComeBackFromTheirText) {
  NamedSums sums;
  sums["finite"] += 0.1;
  sums["finite"] += 1e30;
  sums["zero"];
  sums["up"] += std::numeric_limits<double>::infinity();
  sums["down"] -= std::numeric_limits<double>::infinity();
  sums["none"] += std::nan("");
  NamedSums read = named_sums(text_of(sums));
  EXPECT_EQ(read.size(), 5U);
  EXPECT_EQ(read["finite"].parts(), sums["finite"].parts());
  EXPECT_EQ(read["zero"], 0);
  EXPECT_EQ(read["up"], std::numeric_limits<double>::infinity());
  EXPECT_EQ(read["down"], -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(read["none"]));
  for (const char* bad : {"", "[]", "{\"a\":[\"x\"]}", "{\"a\":[{}]}"}) {
    EXPECT_THROW(named_sums(bad), data::ContentError) << bad;
  }
}

}  // namespace
}  // namespace rubato::runtime
