// What of an accumulator is kept, shown again or forgotten when its program runs again.
#include "runtime/accumulator_state.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rubato::runtime {
namespace {

class AccumulatorStateTest : public testing::Test {
 protected:
  void add(AccumulatorState& state, Level level, double number) const {
    if (world.rank() == 0) state.pending(level)["x"] += number;
  }
  double shown(AccumulatorState& state, Level level) const {
    return state.synchronize(world, level)["x"];
  }
  // As a checkpoint in a loop, and a program that begins again from it.
  AccumulatorState restarted(AccumulatorState& state) const {
    std::array<NamedSums*, 1> pending{&state.pending(Level::loop)};
    sum_over_ranks(world, pending);
    state.settle(Level::loop);
    return AccumulatorState(state.record());
  }

  const collectives::Communicator world = collectives::Communicator::world();
};

TEST_F(AccumulatorStateTest, WhatLoopsAddIsKept) {
  AccumulatorState state({});
  add(state, Level::loop, 5);
  AccumulatorState again = restarted(state);
  EXPECT_EQ(shown(again, Level::epoch), 5);
}

// Added before the loop in which the checkpoint is written: the program adds it again.
TEST_F(AccumulatorStateTest, WhatIsAddedAgainCountsOnce) {
  for (const Level level : {Level::epoch, Level::program}) {
    AccumulatorState state({});
    add(state, level, 1);
    add(state, Level::loop, 5);
    AccumulatorState again = restarted(state);
    add(again, level, 1);
    add(again, Level::loop, 10);
    EXPECT_EQ(shown(again, level), 16);
  }
}

TEST_F(AccumulatorStateTest, WhatWasShownIsShownAgainAndItsAdditionsAreForgotten) {
  for (const Level level : {Level::epoch, Level::program}) {
    AccumulatorState state({});
    add(state, level, 1);
    EXPECT_EQ(shown(state, level), 1);
    add(state, level, 2);
    AccumulatorState again = restarted(state);
    add(again, level, 1);
    EXPECT_EQ(shown(again, level), 1);
    add(again, level, 2);
    EXPECT_EQ(shown(again, level), 3);
    EXPECT_EQ(shown(again, level), 3);
  }
}

// What is added before all epochs is added again however many of them are over; what an epoch has
// added is not, once it is over.
TEST_F(AccumulatorStateTest, EpochsThatAreOverDoNotAddAgain) {
  AccumulatorState state({});
  add(state, Level::program, 100);
  add(state, Level::epoch, 1);
  EXPECT_EQ(shown(state, Level::epoch), 101);
  add(state, Level::epoch, 1);
  state.end_epoch();
  add(state, Level::epoch, 1);  // of the next one
  AccumulatorState again = restarted(state);
  add(again, Level::program, 100);
  add(again, Level::epoch, 1);
  EXPECT_EQ(shown(again, Level::epoch), 103);
}

TEST_F(AccumulatorStateTest, ShownInALoopItIsNotShownAgain) {
  AccumulatorState state({});
  add(state, Level::epoch, 1);
  add(state, Level::loop, 5);
  EXPECT_EQ(shown(state, Level::loop), 6);
  AccumulatorState again = restarted(state);
  add(again, Level::epoch, 1);
  EXPECT_EQ(shown(again, Level::loop), 6);
  EXPECT_TRUE(again.record().shown_in_epoch.empty());
}

TEST_F(AccumulatorStateTest, WhatTakesThePlaceOfTheSumsIsAddedTo) {
  AccumulatorState state({});
  add(state, Level::program, 100);
  add(state, Level::epoch, 1);
  NamedSums sums = state.synchronize(world, Level::epoch);
  sums["x"] += 1000;
  sums["y"] += 3;
  state.replace(sums, Level::epoch);
  add(state, Level::epoch, 1);
  sums = state.synchronize(world, Level::epoch);
  EXPECT_EQ(sums["x"], 1102);
  EXPECT_EQ(sums["y"], 3);
  state.replace({}, Level::epoch);
  EXPECT_TRUE(state.synchronize(world, Level::epoch).empty());
}

TEST(AccumulatorStates, AreKnownByWhereTheyAreMade) {
  const auto world = collectives::Communicator::world();
  JobProgress progress;
  AccumulatorStates states;
  states.make(progress)->pending(Level::loop)["a"] += 1;
  progress.begin_epoch();
  states.make(progress)->pending(Level::loop)["b"] += 1;
  states.make(progress)->pending(Level::loop)["c"] += 1;
  states.settle(world, Level::loop);
  const auto ranks = static_cast<double>(world.size());

  AccumulatorStates again(states.records());
  JobProgress new_progress;
  EXPECT_EQ(again.records().size(), 3U);  // before they are made
  EXPECT_EQ(again.make(new_progress)->record().sums.at("a"), ranks);
  new_progress.begin_epoch();
  EXPECT_EQ(again.make(new_progress)->record().sums.at("b"), ranks);
  EXPECT_EQ(again.make(new_progress)->record().sums.at("c"), ranks);
  EXPECT_TRUE(again.make(new_progress)->record().sums.empty());
  EXPECT_EQ(again.records().size(), 4U);
  new_progress.end_epoch();
  again.end_epoch();
  EXPECT_EQ(again.records().size(), 1U);
  new_progress.enter_loop();
  EXPECT_THROW(again.make(new_progress), std::logic_error);
}

}  // namespace
}  // namespace rubato::runtime
