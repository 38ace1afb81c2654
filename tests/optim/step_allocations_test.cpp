// An update allocates nothing, once there have been a few like it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/node_memory.hpp"
#include "optim/elastic_optimizer.hpp"
#include "optim/scaling_rules.hpp"
#include "tests/allocations.hpp"
#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

constexpr std::size_t minibatches = 5;
constexpr int updates_before = 3;
constexpr int updates = 8;

ElasticOptions options_for(bool measures) {
  ElasticOptions options{.reference_batch = 8};
  if (!measures) return options;
  options.clip_norm = 0.25;
  options.single_minibatch = SingleMinibatch::difference;
  options.tensors = {"first.weight", "first.bias"};
  return options;
}

// An optimizer with all that it steps on.
struct Program {
  Program(const collectives::Topology& where, const std::string& rule, bool measures, SumKind kind)
      : topology(where),
        optimizer(make_elastic_optimizer(rule, make_optimizer<float>({.name = "adam"}),
                                         LearningRateSchedule(ScheduleOptions{}),
                                         options_for(measures))),
        sync(where, tensors(), parameter_elements, total_elements, kind,
             collectives::AllreduceAlgorithm::automatic),
        memory(where, where.node().rank() == 0 ? elements() * sizeof(float) : 0) {
    for (std::size_t slot = 0; slot < minibatches; ++slot) gradients.push_back(gradient_sum(slot));
  }

  std::size_t elements() const {
    return total_elements + optimizer->state_names().size() * parameter_elements;
  }
  SharedState state() const {
    const std::span<float> all = memory.region_as<float>(0);
    SharedState state{all.first(total_elements), {}};
    for (std::size_t at = total_elements; at < elements(); at += parameter_elements) {
      state.optimizer_state.push_back(all.subspan(at, parameter_elements));
    }
    return state;
  }

  const collectives::Topology& topology;
  std::unique_ptr<ElasticOptimizer> optimizer;
  GradientSync sync;
  collectives::NodeMemory memory;
  std::vector<std::vector<float>> gradients;
};

// By the parts, as the train step has them.
std::size_t allocations_by_parts(Program program) {
  SliceUpdate slice(program.optimizer->inner(), program.sync, program.state());
  program.sync.measure(program.optimizer->measures(program.state()));
  const std::size_t ranks = program.topology.all().size(), rank = program.topology.all().rank();
  GradientSync& sync = program.sync;
  const auto sum = [&] {
    sync.begin(minibatches, samples_in(minibatches), (minibatches + ranks - 1 - rank) / ranks,
               (minibatches + ranks - 1) / ranks);
    for (std::size_t slot = rank; slot < minibatches; slot += ranks) {
      std::ranges::copy(program.gradients[slot], sync.gradient().begin());
      sync.accumulate({slot, samples_of(slot), loss_of(slot)}, sync.gradient());
    }
    const auto rate =
        program.optimizer->rate_in_advance(static_cast<double>(samples_in(minibatches)), {});
    if (rate) slice.prepare(*rate, minibatches);
    return sync.sum(0, {}, rate ? &slice : nullptr);
  };
  std::size_t before = 0;
  for (int update = 0; update < updates_before + updates; ++update) {
    if (update == updates_before) before = allocations_of_this_thread();
    UpdateSums sums = sum();
    while (!sums.stands) {
      sync.barrier();
      sums = sum();
    }
    const auto decision =
        program.optimizer->decide({sums.gradient, sums.preconditioned, sums.tensors}, {});
    if (!sums.is_used) program.optimizer->update(decision, sync, minibatches, slice);
    sync.barrier();
  }
  return allocations_of_this_thread() - before;
}

// By step(), once per substep; an idle rank calls it once.
std::size_t allocations_by_step(Program program) {
  std::vector<float> gradient(total_elements);
  program.optimizer->attach(program.sync, program.state(), gradient, 1000);
  const std::size_t ranks = program.topology.all().size(), rank = program.topology.all().rank();
  const std::vector<std::uint64_t> batches(updates_before + updates, samples_in(minibatches));
  const std::vector<std::size_t> counts(batches.size(), minibatches);
  const std::vector<std::size_t> mine(batches.size(), (minibatches + ranks - 1 - rank) / ranks);
  program.optimizer->set_epoch(0, batches, counts, mine);
  std::size_t before = 0;
  for (int update = 0; update < updates_before + updates; ++update) {
    if (update == updates_before) before = allocations_of_this_thread();
    for (std::size_t slot = rank; slot < minibatches; slot += ranks) {
      std::ranges::copy(program.gradients[slot], gradient.begin());
      program.optimizer->step({slot, samples_of(slot), loss_of(slot)});
    }
  }
  return allocations_of_this_thread() - before;
}

struct Case {
  std::string rule;
  bool measures;
  SumKind kind;
};

class StepAllocations : public testing::TestWithParam<Case> {
 protected:
  Program program(const collectives::Topology& topology) const {
    return {topology, GetParam().rule, GetParam().measures, GetParam().kind};
  }
  const collectives::Communicator world = collectives::Communicator::world();
  const collectives::Topology one_node{world}, nodes_of_two{world, 2};
};

INSTANTIATE_TEST_SUITE_P(Runs, StepAllocations,
                         testing::Values(Case{"linear", false, SumKind::exact},
                                         Case{"linear", false, SumKind::fast},
                                         Case{"adascale", false, SumKind::exact},
                                         Case{"adamscale", true, SumKind::exact},
                                         Case{"adamscale", true, SumKind::fast}),
                         [](const auto& run) {
                           return run.param.rule + (run.param.measures ? "_measuring_" : "_") +
                                  to_string(run.param.kind);
                         });

TEST(Allocations, AreCounted) {
  const std::size_t before = allocations_of_this_thread();
  const auto one = std::make_unique<std::vector<float>>(100);
  EXPECT_EQ(allocations_of_this_thread() - before, 2U);
  EXPECT_EQ(one->size(), 100U);
}

TEST_P(StepAllocations, AreNoneByParts) {
  for (const auto* topology : {&one_node, &nodes_of_two}) {
    EXPECT_EQ(allocations_by_parts(program(*topology)), 0U);
  }
}

TEST_P(StepAllocations, AreNoneByStep) {
  for (const auto* topology : {&one_node, &nodes_of_two}) {
    EXPECT_EQ(allocations_by_step(program(*topology)), 0U);
  }
}

}  // namespace
}  // namespace rubato::optim
