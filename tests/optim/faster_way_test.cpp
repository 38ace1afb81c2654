#include "optim/faster_way.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace rubato::optim {
namespace {

constexpr std::size_t trial_period = FasterWay::trial_periods.front();

using Nanoseconds = std::array<std::int64_t, 2>;  // of each way

// How often each way is gone in so many uses that take so long.
std::array<std::size_t, 2> uses(FasterWay& faster, std::size_t number, const Nanoseconds& taken) {
  std::array<std::size_t, 2> times{};
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t way = faster.choose();
    ++times[way];
    faster.took(taken[way]);
  }
  return times;
}

TEST(FasterWay, IsFoundAtOnceWhicheverItIs) {
  for (const Nanoseconds& taken : {Nanoseconds{100, 270}, Nanoseconds{180, 160}}) {
    FasterWay faster;
    uses(faster, 2 * FasterWay::times_kept, taken);
    const std::size_t better = taken[0] < taken[1] ? 0 : 1;
    const auto [first, second] = uses(faster, 10 * trial_period, taken);
    EXPECT_EQ(better == 0 ? second : first, 10U) << "trials of the slower way";
  }
}

// A trial costs what the other way takes beyond the usual one.
TEST(FasterWay, TriesTheMoreRarelyTheMoreATrialCostsWhereAskedTo) {
  for (const auto& [slower, period] : {std::pair{182, 41},
                                       {183, 101},
                                       {300, 101},
                                       {303, 197},
                                       {700, 419},
                                       {1'500, 809},
                                       {3'000, 1607},
                                       {90'000, 1607}}) {
    FasterWay faster(FasterWay::Trials::rarely);
    EXPECT_EQ(uses(faster, 10, {100, slower})[1], 5U) << slower;
    const auto cycle = static_cast<std::size_t>(period);
    EXPECT_EQ(uses(faster, cycle - 1, {100, slower})[1], 0U) << slower;
    EXPECT_EQ(uses(faster, 1, {100, slower})[1], 1U) << slower;
    EXPECT_EQ(uses(faster, 3 * cycle, {100, slower})[1], 3U) << slower;
  }
}

// Where trials are rare, way 0 has to win most of them: four of the first five, seven of nine.
TEST(FasterWay, HasToProveTheFirstWayWhereAskedTo) {
  for (std::size_t won = 0; won <= 5; ++won) {
    FasterWay faster(FasterWay::Trials::rarely);
    for (std::size_t trial = 0; trial < 5; ++trial) uses(faster, 2, {100, trial < won ? 110 : 90});
    EXPECT_EQ(faster.choose(), won >= 4 ? 0U : 1U) << won;
  }
  FasterWay faster(FasterWay::Trials::rarely);
  uses(faster, 2 * 5, {100, 99});
  for (std::size_t won = 1; won <= 7; ++won) {
    EXPECT_EQ(uses(faster, trial_period, {100, 101})[0], 1U) << won;
  }
  EXPECT_EQ(uses(faster, 10, {100, 101})[0], 10U);
}

TEST(FasterWay, ChangesWhenTheOtherBecomesFaster) {
  FasterWay faster;
  uses(faster, 50, {100, 150});
  uses(faster, FasterWay::times_kept * trial_period, {270, 170});
  EXPECT_GE(uses(faster, 100, {270, 170})[1], 95U);
  uses(faster, FasterWay::times_kept * trial_period, {100, 150});
  EXPECT_GE(uses(faster, 100, {100, 150})[0], 95U);
}

// Way 0 is the faster one: way 1 is gone at first, to know its times, and in trials. The i-th use
// takes taken(i, way).
template <class Taken>
void expect_only_trials_of_the_second(std::size_t number, const Taken& taken) {
  FasterWay faster;
  std::size_t of_the_second = 0;
  for (std::size_t i = 0; i < number; ++i) {
    const std::size_t way = faster.choose();
    of_the_second += way;
    faster.took(taken(i, way));
  }
  EXPECT_LE(of_the_second, FasterWay::times_kept + number / trial_period + 1);
}

TEST(FasterWay, ComparesUsesOfAllKindsWhereTheyDifferInTurn) {
  expect_only_trials_of_the_second(1000, [](std::size_t i, std::size_t way) {
    const std::array<std::int64_t, 3> kinds = {64, 192, 128};
    return kinds[i % kinds.size()] * (way == 0 ? 100 : 110);
  });
}

// A machine that is slow for some time, and then is not: how long the other way took in a slow time
// says nothing of how long it would take in a fast one.
TEST(FasterWay, ComparesOnlyTimesThatAreCloseToEachOther) {
  expect_only_trials_of_the_second(4000, [](std::size_t i, std::size_t way) {
    const bool is_slow = i / (3 * trial_period) % 4 == 3;
    return (way == 0 ? 100 : 120) * (is_slow ? 2 : 1);
  });
}

TEST(FasterWay, IsNotDecidedByOneTrial) {
  for (std::size_t held_up = 1; held_up <= FasterWay::times_kept; ++held_up) {
    FasterWay faster;
    uses(faster, 2 * FasterWay::times_kept, {100, 110});
    for (std::size_t trial = 1; trial <= held_up; ++trial) {  // and all uses before one of them
      while (faster.choose() == 0) faster.took(trial == held_up ? 9'000 : 100);
      faster.took(110);
    }
    EXPECT_EQ(uses(faster, trial_period - 1, {100, 110})[1], 0U) << held_up;
  }
}

TEST(FasterWay, IsComparedWithMoreThanTheLastUse) {
  expect_only_trials_of_the_second(1000, [](std::size_t i, std::size_t way) {
    // The one before a trial: the first trials take turns with other uses.
    const bool is_held_up = (i + 2 - 2 * FasterWay::times_kept) % trial_period == 0;
    return way == 1 ? 110 : is_held_up ? 9'000 : 100;
  });
}

TEST(FasterWay, StaysTheSameAfterOneUseThatWasHeldUp) {
  FasterWay faster;
  uses(faster, 2 * FasterWay::times_kept, {100, 150});
  EXPECT_EQ(uses(faster, 1, {9'000, 9'000})[1] + uses(faster, 10, {100, 150})[1], 0U);
}

}  // namespace
}  // namespace rubato::optim
