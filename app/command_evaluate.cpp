// rubato evaluate: a checkpoint's model on a test set. Rank 0 alone reads the run, which may go on
// meanwhile, and hands configuration and weights to the others.
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "app/checkpoint_files.hpp"
#include "app/commands.hpp"
#include "app/evaluate_options.hpp"
#include "app/evaluation_history.hpp"
#include "app/evaluation_report.hpp"
#include "app/failure.hpp"
#include "app/options.hpp"
#include "app/study_search.hpp"
#include "collectives/agreement.hpp"
#include "collectives/session.hpp"
#include "data/errors.hpp"
#include "nn/aligned_buffer.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "runtime/evaluator.hpp"
#include "runtime/run_context.hpp"
#include "runtime/state_transfer.hpp"

namespace rubato::app {
namespace {

// What rank 0 has read.
struct EvaluatedRun {
  NamedCheckpoint named;
  std::optional<std::vector<PastEvaluation>> history;  // of a directory
};

void warn(const std::string& sentence) { std::cerr << "rubato: warning: " << sentence << '\n'; }

// A file, the directory of a run, or that of a study with the cell that is meant.
std::filesystem::path path_of_run(const Options& options) {
  const std::filesystem::path path = options.positionals().front();
  if (options.has_value("where")) return find_cell(path, options.text("where"));
  if (!std::filesystem::exists(path / "study.ini")) return path;
  throw UsageError(path.string() +
                   " is a study: say which cell, with --where batch=1024,seed=1 (for example)");
}

EvaluatedRun read_run(const std::filesystem::path& path) {
  EvaluatedRun run{read_newest(path), {}};
  for (const std::string& reason : run.named.skipped) warn(reason);
  if (run.named.file == path) return run;
  const auto metrics = run.named.file.parent_path().parent_path() / "metrics.jsonl";
  if (std::filesystem::exists(metrics)) {
    run.history = evaluation_history(metrics);
  } else {
    warn(metrics.string() + " does not exist: nothing is known of the evaluations before");
  }
  return run;
}

struct Materials {
  EvaluationTask task;
  data::DataSource source;
  std::unique_ptr<nn::Model> model;
};

Materials open_materials(const Options& options, const std::string& configuration) {
  Materials materials{evaluation_task(options, configuration), {}, {}};
  const EvaluationTask& task = materials.task;
  nn::check_arithmetic();
  const nn::Backend backend = nn::backend(task.backend);
  nn::select_kernels(backend, task.isa);
  materials.source = data::open_data(task.data);
  if (!materials.source.test) {
    throw UsageError("the data " + task.data.spec +
                     " have no test set: give one with --test-data or --test-every");
  }
  const data::SampleShape shape = materials.source.train->shape();
  materials.model = nn::make_model(task.model, {shape.height, shape.width, shape.channels},
                                   materials.source.train->classes(), backend);
  return materials;
}

void fill_weights(const EvaluatedRun& run, const Materials& materials,
                  std::span<float> parameters) {
  try {
    runtime::copy_weights(run.named.checkpoint.state, materials.model->layout(), parameters);
  } catch (const data::ContentError& error) {
    throw data::ContentError(run.named.file.string() + " does not fit model " +
                             materials.task.model + " on data " + materials.task.data.spec + ": " +
                             error.what());
  }
}

EvaluationFacts facts_of(EvaluatedRun run, const Materials& materials,
                         runtime::Evaluator::DetailedResult result,
                         std::optional<bool> is_runs_test_set) {
  const runtime::Checkpoint& checkpoint = run.named.checkpoint;
  const data::DataOptions& data = materials.task.data;
  return {.file = run.named.file.string(),
          .update = checkpoint.state.cursor.update,
          .epoch = checkpoint.state.cursor.epoch,
          .training_samples = checkpoint.state.cursor.samples,
          .model = materials.task.model,
          .parameters = materials.model->layout().parameter_count(),
          .data = data.test_spec.value_or(data.spec),
          .test_samples = materials.source.test->size(),
          .is_runs_test_set = is_runs_test_set,
          .result = std::move(result),
          .history = std::move(run.history)};
}

int evaluate_on(const collectives::Communicator& world, const OptionTable& table, int argc,
                char** argv) {
  Options options;
  EvaluatedRun run;
  collectives::agree(
      world,
      [&] {
        options = table.parse(argc, argv);
        if (world.rank() == 0) run = read_run(path_of_run(options));
      },
      explain);
  const std::string configuration =
      world.broadcast(runtime::configuration_of(run.named.checkpoint), 0);
  Materials materials;
  nn::AlignedBuffer<float> buffer;
  std::span<float> parameters;
  collectives::agree(
      world,
      [&] {
        materials = open_materials(options, configuration);
        parameters = buffer.first(materials.model->layout().total_elements());
        if (world.rank() == 0) fill_weights(run, materials, parameters);
      },
      explain);
  const auto identity =
      runtime::evaluation_identity(materials.task.backend, *materials.source.test);
  collectives::require_same(world, runtime::named_values(identity));
  world.broadcast(std::as_writable_bytes(parameters), 0);
  materials.model->use_parameters(parameters);
  auto result = runtime::Evaluator(materials.source.test).evaluate_classes(world, *materials.model);
  if (world.rank() != 0) return exit_done;
  const auto is_same = runtime::has_same_test_set(run.named.checkpoint, identity);
  const bool is_json = options.text("format") == "json";
  (is_json ? print_as_json : print_as_text)(
      std::cout, facts_of(std::move(run), materials, std::move(result), is_same));
  return exit_done;
}

}  // namespace

int evaluate(int argc, char** argv) {
  const OptionTable table = evaluate_table();
  if (asks_for_help(argc, argv)) {
    std::cout << table.help();
    return exit_done;
  }
  return collectives::run_session(
      argc, argv,
      [&](const collectives::Communicator& world) { return evaluate_on(world, table, argc, argv); },
      explain);
}

}  // namespace rubato::app
