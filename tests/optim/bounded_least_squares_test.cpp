// The minimum of sums whose minimum is known, inside the ranges and at their ends.
#include "optim/bounded_least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace rubato::optim {
namespace {

Ranges everywhere() {
  Ranges ranges;
  ranges.lowest.fill(-30);
  ranges.highest.fill(30);
  return ranges;
}

// Of each unknown the distance from its index, and of the first two that of their sum from 1: the
// first two end at 0 and 1, the others at 2, 3, ...
SquaredErrors distances(const Unknowns& x) {
  SquaredErrors sum;
  for (std::size_t i = 0; i < unknown_count; ++i) {
    Unknowns slope{};
    slope[i] = 1;
    sum.add(1 + static_cast<double>(i), x[i] - static_cast<double>(i), slope);
  }
  sum.add(5, x[0] + x[1] - 1, {1, 1});
  return sum;
}

TEST(BoundedLeastSquares, FindsTheMinimumOfASumOfDistances) {
  Unknowns start;
  start.fill(20);
  const Minimum found = minimum(distances, everywhere(), start);
  for (std::size_t i = 0; i < unknown_count; ++i) {
    EXPECT_NEAR(found.unknowns[i], static_cast<double>(i), 1e-4) << i;
  }
}

TEST(BoundedLeastSquares, StaysWithinTheRangesAndDoesItsBestThere) {
  Ranges ranges = everywhere();
  ranges.lowest[0] = ranges.highest[0] = 0.5;  // fixed
  ranges.highest[6] = 4;
  ranges.lowest[3] = 3.5;
  const Minimum found = minimum(distances, ranges, {});
  EXPECT_EQ(found.unknowns[0], 0.5);
  EXPECT_EQ(found.unknowns[6], 4);
  EXPECT_EQ(found.unknowns[3], 3.5);
  EXPECT_NEAR(found.unknowns[1], (2 * 1 + 5 * 0.5) / 7, 1e-3);
  EXPECT_NEAR(found.unknowns[5], 5, 1e-3);
}

TEST(BoundedLeastSquares, LeavesTheEndOfARangeWhereThatLeadsDown) {
  Ranges ranges = everywhere();
  ranges.highest.fill(8);
  for (const Unknowns& end : {ranges.highest, ranges.lowest}) {
    EXPECT_NEAR(minimum(distances, ranges, end).unknowns[5], 5, 1e-3);
  }
}

// Rosenbrock's valley: the steps must be cut, or they lead up.
TEST(BoundedLeastSquares, FollowsACurvedValley) {
  const auto valley = [](const Unknowns& x) {
    SquaredErrors sum;
    sum.add(1, 1 - x[0], {-1});
    sum.add(100, x[1] - x[0] * x[0], {-2 * x[0], 1});
    return sum;
  };
  const Minimum found = minimum(valley, everywhere(), {-1.2, 1});
  EXPECT_NEAR(found.unknowns[0], 1, 1e-3);
  EXPECT_NEAR(found.unknowns[1], 1, 1e-3);
  EXPECT_EQ(found.unknowns[4], 0);  // without influence
}

TEST(BoundedLeastSquares, OneFarOffHardlyCountsRobustly) {
  const auto mean = [](bool robust) {
    return [robust](const Unknowns& x) {
      SquaredErrors sum;
      for (const double value : {1.0, 1.1, 0.9, 1.0, 50.0}) {
        if (robust) {
          sum.add_robustly(1, x[0] - value, {1}, 0.2);
        } else {
          sum.add(1, x[0] - value, {1});
        }
      }
      return sum;
    };
  };
  EXPECT_NEAR(minimum(mean(false), everywhere(), {}).unknowns[0], 10.8, 0.01);
  EXPECT_NEAR(minimum(mean(true), everywhere(), {}).unknowns[0], 1.05, 0.02);
}

TEST(BoundedLeastSquares, RobustSumIsSmoothWhereItTurnsLinear) {
  SquaredErrors below, above;
  below.add_robustly(3, 0.2 - 1e-9, {1}, 0.2);
  above.add_robustly(3, 0.2 + 1e-9, {1}, 0.2);
  EXPECT_NEAR(below.value(), above.value(), 1e-8);
  EXPECT_NEAR(below.gradient()[0], above.gradient()[0], 1e-8);
}

TEST(BoundedLeastSquares, ExactFitIsNoFailure) {
  Unknowns start{};
  start[0] = 7;
  const auto met = [](const Unknowns& x) {
    SquaredErrors sum;
    sum.add(1, x[0] - 7, {1});
    return sum;
  };
  const Minimum found = minimum(met, everywhere(), start);
  EXPECT_EQ(found.unknowns[0], 7);
  EXPECT_EQ(found.value, 0);
}

}  // namespace
}  // namespace rubato::optim
