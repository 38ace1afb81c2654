// Trains a model on a batch-size trace, written out with the library's own parts: the five steps
// that a training program goes through, and no ready-made trainer.
//
//   mpirun -q -n 2 example_01_trace_training [--data SPEC] [--trace FILE.csv]
//            [--log-every N] [--letters]
//
// --letters prints what each call of step() did on rank 0, in the form "A U A A U ...": A
// accumulated, U updated.
#include <boost/program_options.hpp>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "collectives/session.hpp"
#include "collectives/topology.hpp"
#include "data/batch_trace.hpp"
#include "data/data_source.hpp"
#include "data/elastic_sampler.hpp"
#include "data/prefetcher.hpp"
#include "data/trace_plan.hpp"
#include "nn/model_zoo.hpp"
#include "optim/gradient_sync.hpp"
#include "optim/scaling_rules.hpp"
#include "runtime/replica.hpp"

using namespace rubato;
using optim::ElasticOptimizer;

namespace po = boost::program_options;

po::variables_map read_arguments(int argc, char** argv) {
  po::options_description options;
  options.add_options()("data", po::value<std::string>()->default_value("fashion-mnist"))(
      "trace", po::value<std::string>()->default_value("examples/traces/growing.csv"))(
      "log-every", po::value<std::uint64_t>()->default_value(100))("letters", po::bool_switch());
  po::variables_map arguments;
  po::store(po::parse_command_line(argc, argv, options), arguments);
  return arguments;
}

int train(const collectives::Communicator& world, const po::variables_map& arguments) {
  constexpr std::uint64_t minibatch = 32;
  constexpr std::uint64_t seed = 42;
  const collectives::Topology topology(world);
  const bool speaks = world.rank() == 0;
  const bool wants_letters = speaks && arguments["letters"].as<bool>();
  const auto log_every = arguments["log-every"].as<std::uint64_t>();

  // 1. The batch-size trace: the global batch size of every update, through all epochs.
  const data::DataSource source =
      data::open_data({arguments["data"].as<std::string>(), {}, {}, {}});
  const data::TracePlan plan(data::BatchTrace::from_csv(arguments["trace"].as<std::string>()),
                             {.samples = source.train->size(), .minibatch = minibatch});

  // 2. The sampler: this rank's minibatches of each update.
  data::ElasticSampler sampler(plan, {.ranks = world.size(), .rank = world.rank(), .seed = seed});

  // 3. The loader, which reads the next minibatch while the current one computes; and the model,
  // replicated on every rank, its weights shared within a host.
  data::Prefetcher loader(source.train, data::OrderKind::torch, seed, minibatch);
  const data::SampleShape shape = source.train->shape();
  const nn::Backend backend = nn::backend("auto");
  nn::select_kernels(backend, "auto");
  auto inner = optim::make_optimizer<float>({.name = "sgd", .momentum = 0.5});
  runtime::Replica replica(topology,
                           nn::make_model("mnist", {shape.height, shape.width, shape.channels},
                                          source.train->classes(), backend),
                           inner->state_names(), seed);

  // 4. The optimizer: an ordinary one, wrapped in a rule that scales its rate with the batch.
  const auto sync = runtime::make_gradient_sync(topology, replica.layout());
  optim::ScheduleOptions schedule;
  schedule.base_rate = 0.01;
  optim::LinearRuleOptimizer optimizer(std::move(inner), optim::LearningRateSchedule(schedule),
                                       {.reference_batch = 64});
  std::vector<float> gradient(replica.layout().total_elements());
  optimizer.attach(*sync, replica.shared(), gradient, plan.epoch_samples());

  // 5. The epochs: set_epoch() on sampler and optimizer, then one step() a substep. An idle rank's
  // substep has no samples.
  std::uint64_t updates = 0;
  for (std::uint64_t epoch = 0; epoch < sampler.epochs(); ++epoch) {
    sampler.set_epoch(epoch);
    optimizer.set_epoch(epoch, sampler.batch_sizes(), sampler.minibatch_counts(),
                        sampler.substep_counts(), sampler.position());
    for (const data::Substep& substep : sampler) {
      if (!substep.is_idle) loader.request({&substep.minibatch, 1});
    }
    for (const data::Substep& substep : sampler) {
      optim::SubstepFacts facts;
      if (!substep.is_idle) {
        const auto loss = replica.run(loader.next(), gradient);
        facts = {substep.slot, substep.samples.size(), loss.loss_sum, loss.correct};
      }
      const auto outcome = optimizer.step(facts);
      const bool is_update = outcome.kind == ElasticOptimizer::StepKind::updated;
      if (is_update) replica.use_new_weights();
      if (wants_letters) std::cout << (is_update ? "U " : "A ");
      updates += is_update ? 1 : 0;
      if (is_update && speaks && !wants_letters && updates % log_every == 0) {
        std::cout << "update " << updates << "  epoch " << epoch << "  batch " << outcome.batch_size
                  << "  lr " << outcome.decision.rate.learning_rate << "  loss " << outcome.loss
                  << '\n';
      }
    }
  }
  if (speaks) std::cout << (wants_letters ? "\n" : "") << updates << " updates\n";
  return 0;
}

int main(int argc, char** argv) {
  return collectives::run_session(argc, argv, [&](const collectives::Communicator& world) {
    return train(world, read_arguments(argc, argv));
  });
}
