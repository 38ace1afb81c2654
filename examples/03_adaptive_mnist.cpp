// Trains a small convolutional network with a batch size that chooses itself, in five steps;
// stopped by a signal, it goes on, on whatever ranks it is started again. ADAPTIVE_MNIST.md says
// what each line is in the tutorial that it follows.
//
//   mpirun -q -n 2 example_03_adaptive_mnist [--data SPEC] [--model NAME] [--epochs N]
//            [--directory DIR] [--decisions FILE] [--fixed] [--statistical]
//
// --fixed leaves the batch as it is; --decisions repeats a run by its DIR/decisions.csv.
#include <boost/program_options.hpp>
#include <cstdint>
#include <iostream>
#include <string>

#include "collectives/session.hpp"
#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"
#include "runtime/accumulator.hpp"
#include "runtime/adaptive_data_loader.hpp"
#include "runtime/adaptive_data_parallel.hpp"
#include "runtime/job.hpp"
#include "runtime/job_epochs.hpp"

using namespace rubato;

namespace po = boost::program_options;

po::variables_map read_arguments(int argc, char** argv) {
  po::options_description options;
  options.add_options()("data", po::value<std::string>()->default_value("fashion-mnist"))(
      "model", po::value<std::string>()->default_value("mnist-tutorial"))(
      "epochs", po::value<std::uint64_t>()->default_value(14))(
      "directory", po::value<std::string>()->default_value("runs/adaptive-mnist"))(
      "decisions", po::value<std::string>())("fixed", po::bool_switch())("statistical",
                                                                         po::bool_switch());
  po::variables_map arguments;
  po::store(po::parse_command_line(argc, argv, options), arguments);
  return arguments;
}

int train(const collectives::Communicator& world, const po::variables_map& arguments,
          const runtime::StopRequest& signals) {
  // Step 1: the job, and in it the model with its optimizer and schedule.
  runtime::JobOptions options{
      .directory = arguments["directory"].as<std::string>(), .seed = 42, .stop_request = &signals};
  if (arguments.count("decisions") > 0)
    options.decisions = arguments["decisions"].as<std::string>();
  runtime::Job job(world, options);
  const data::DataSource source = data::open_data({.spec = arguments["data"].as<std::string>()});
  const auto [height, width, channels] = source.train->shape();
  runtime::AdaptiveDataParallel model(
      nn::make_model(arguments["model"].as<std::string>(), {height, width, channels},
                     source.train->classes(), nn::backend("auto")),
      {.name = "sgd", .momentum = 0.9},
      optim::LearningRateSchedule(
          {.name = "step", .base_rate = 0.01, .gamma = 0.7, .step_size = 1}),
      {.rule = "adascale"});

  // Step 2: the loaders. The batch size is that of all ranks together.
  runtime::AdaptiveDataLoader training(source.train,
                                       {.batch_size = 64,
                                        .shuffle = true,
                                        .drop_last = true,
                                        .statistical_epochs = arguments["statistical"].as<bool>()});
  runtime::AdaptiveDataLoader testing(source.test, {.batch_size = 1000, .minibatch = 100});

  // Step 3: let the batch size follow speed and gradient noise, within bounds.
  if (!arguments["fixed"].as<bool>()) training.autoscale_batch_size(1028, {32, 128});

  // Step 4: the epochs that are left.
  for (const auto epoch :
       runtime::remaining_epochs_until(arguments["epochs"].as<std::uint64_t>())) {
    for (auto& batch : training) model.train(batch);

    // Step 5: sums over all ranks.
    runtime::Accumulator stats;
    for (auto& batch : testing) {
      const runtime::Evaluation result = model.evaluate(batch);
      stats["loss"] += result.loss_sum;
      stats["correct"] += static_cast<double>(result.correct);
    }
    if (auto all = stats.synchronized(); all && world.rank() == 0) {
      const auto samples = static_cast<double>(source.test->size());
      std::cout << "epoch " << epoch + 1 << "  update " << training.cursor().update << "  batch "
                << training.current_batch_size() << "  gain " << model.gain() << "  test loss "
                << all["loss"] / samples << "  accuracy " << 100 * all["correct"] / samples << " %"
                << std::endl;
    }
  }
  if (world.rank() == 0) std::cout << "digest " << state_digest(job.state()) << '\n';
  return 0;
}

int main(int argc, char** argv) {
  const runtime::StopRequest signals;  // until MPI has ended, so that none comes too late
  return collectives::run_session(
      argc, argv,
      [&](const collectives::Communicator& world) {
        return train(world, read_arguments(argc, argv), signals);
      },
      runtime::explain);
}
