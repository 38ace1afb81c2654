// What a training step computes with: the node's weights or a copy of them, whose bits are the
// same.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "tests/runtime/train_step_fixture.hpp"

namespace rubato::runtime {
namespace {

class WeightsInUseTest : public TrainStepTest {
 protected:
  bool are_own() const { return replica->weights().data() != replica->shared().parameters.data(); }

  // Runs all updates of the plan; in how many the rank computed with weights of its own.
  std::size_t run() {
    std::size_t own = 0;
    for (auto update = plan->next({}); update; update = plan->next(update->end)) {
      if (are_own()) ++own;
      const StepReport report = step->run(*update, nullptr);
      was_skipped = was_skipped || !report.skipped.empty();
      EXPECT_TRUE(std::ranges::equal(replica->weights(), replica->shared().parameters))
          << "after update " << report.update;
      topology.node().barrier();
    }
    return own;
  }

  bool was_skipped = false;
};

TEST_F(WeightsInUseTest, AreTheNodesAlsoWhereAnUpdateIsLeftOut) {
  build(std::make_unique<SumModel>(99.0F),
        data::BatchTrace::from_rows({5, 1, 7, 8, 4, 9, 4, 5, 8, 9, 8, 4, 8, 12, 8}), true);
  const std::size_t own = run();
  EXPECT_TRUE(was_skipped);
  // Of three minibatches at most, which later ranks have none of: they have nothing to compare.
  EXPECT_EQ(own > 0, topology.node().size() > 1 && world.rank() < 3);
}

TEST_F(WeightsInUseTest, AreTheOnesThatMinibatchesTakeLessTimeWith) {
  constexpr std::size_t updates = 400;
  for (const bool own_is_faster : {true, false}) {
    double seconds = 0;  // an hour or two a call: far more than it takes to write
    const auto clock = [&] { return seconds += are_own() == own_is_faster ? 3600 : 7200; };
    std::vector<std::uint64_t> batch_sizes(updates);
    for (std::size_t i = 0; i < updates; ++i) {
      batch_sizes[i] = (i % 3 + 1) * minibatch * world.size();  // as many minibatches a rank
    }
    build(std::make_unique<SumModel>(), data::BatchTrace::from_rows(batch_sizes), false,
          data::Assignment::blocked, clock);
    const std::size_t own = run();
    if (topology.node().size() == 1) {
      EXPECT_EQ(own, 0U);
    } else if (own_is_faster) {
      EXPECT_GT(own, updates * 8 / 10);
    } else {
      EXPECT_LT(own, updates * 2 / 10);
    }
  }
}

}  // namespace
}  // namespace rubato::runtime
