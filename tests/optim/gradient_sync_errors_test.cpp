// Updates that cannot be: all ranks must hear the same of them, and none may hang.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "optim/gradient_sync.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

using collectives::Topology;

class GradientSyncErrors : public testing::Test {
 protected:
  // Nothing may be made of a mean that is in doubt.
  struct NeverUsed : MeanUse {
    void begin() override { ADD_FAILURE() << "the mean is used"; }
    void take(std::size_t begin, std::span<const float>) override {
      ADD_FAILURE() << "the mean is used from " << begin;
    }
  };
  NeverUsed never;

  // As far as units go, the mean of ordinary gradients could be used.
  void take_units(GradientSync& sync) const {
    sync.begin(1, samples_of(0));
    if (world.rank() == 0) sync.accumulate({0, samples_of(0), 0, 0}, gradient_sum(0));
    sync.sum();
    sync.barrier();
  }

  const collectives::Communicator world = collectives::Communicator::world();
  const Topology one_node{world};
  const Topology nodes_of_two{world, 2};
};

TEST_F(GradientSyncErrors, ANonFiniteGradientOnOneRankIsNamedOnAll) {
  for (const SumKind kind : {SumKind::exact, SumKind::fast}) {
    for (const Topology* topology : {&one_node, &nodes_of_two}) {
      GradientSync sync = automatic_sync(*topology, kind);
      take_units(sync);
      sync.begin(1, samples_of(0));
      if (world.rank() == world.size() - 1) {
        std::vector<float> gradient = gradient_sum(0);
        gradient[5100] = std::numeric_limits<float>::quiet_NaN();
        sync.accumulate({0, samples_of(0), loss_of(0), 0}, gradient);
      }
      try {
        sync.sum(0, {}, &never);
        ADD_FAILURE() << "expected NonFiniteGradient";
      } catch (const NonFiniteGradient& error) {
        EXPECT_NE(std::string(error.what()).find("first.bias"), std::string::npos) << error.what();
      }
      sync.barrier();
    }
  }
}

TEST_F(GradientSyncErrors, ALossThatIsNotFiniteIsAnErrorOnAllRanks) {
  for (const Topology* topology : {&one_node, &nodes_of_two}) {
    GradientSync sync = automatic_sync(*topology, SumKind::exact);
    take_units(sync);
    sync.begin(1, samples_of(0));
    if (world.rank() == 0) {
      const double loss = std::numeric_limits<double>::infinity();
      sync.accumulate({0, samples_of(0), loss, 0}, gradient_sum(0));
    }
    try {
      sync.sum(0, {}, &never);
      ADD_FAILURE() << "expected NonFiniteGradient";
    } catch (const NonFiniteGradient& error) {
      EXPECT_NE(std::string(error.what()).find("the loss is not finite"), std::string::npos);
    }
    sync.barrier();
  }
}

// Gradients that are finite one by one, but not their float sum.
TEST_F(GradientSyncErrors, AFastSumThatOverflowsIsAnErrorOnAllRanks) {
  GradientSync sync = automatic_sync(one_node, SumKind::fast);
  take_units(sync);
  sync.begin(4, samples_in(4));
  for (std::size_t slot = world.rank(); slot < 4; slot += world.size()) {
    std::vector<float> gradient(total_elements, 0.0F);
    gradient[7] = 3e38F;
    sync.accumulate({slot, samples_of(slot), 0, 0}, gradient);
  }
  EXPECT_THROW(sync.sum(0, {}, &never), NonFiniteGradient);
  sync.barrier();
}

TEST_F(GradientSyncErrors, ASumInUnitsThatDoNotStandIsNotUsed) {
  GradientSync sync = automatic_sync(one_node, SumKind::exact);
  for (const float magnitude : {1.0F, 1e12F, 1e-3F}) {  // the first units, outgrown, far too large
    sync.begin(1, samples_of(0));
    if (world.rank() == 0) {
      sync.accumulate({0, samples_of(0), 0, 0}, gradient_sum(0, magnitude));
    }
    EXPECT_FALSE(sync.sum(0, {}, &never).stands);
    sync.barrier();
  }
}

TEST_F(GradientSyncErrors, SamplesThatNobodyRanAreAnError) {
  GradientSync sync = automatic_sync(one_node, SumKind::exact);
  take_units(sync);
  sync.begin(2, samples_in(2));
  if (world.rank() == 0) sync.accumulate({1, samples_of(1), 0, 0}, gradient_sum(1));
  EXPECT_THROW(sync.sum(0, {}, &never), std::logic_error);
  sync.barrier();
}

}  // namespace
}  // namespace rubato::optim
