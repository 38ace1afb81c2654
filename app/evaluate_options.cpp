// The options are some of train's, and are put above a configuration as train does it: by its own
// table.
#include "app/evaluate_options.hpp"

#include <array>
#include <vector>

#include "app/failure.hpp"
#include "app/run_from_options.hpp"
#include "app/spelling.hpp"
#include "app/train_options.hpp"
#include "nn/model_zoo.hpp"

namespace rubato::app {
namespace {

constexpr std::array of_training{"data",         "test-data", "test-every",
                                 "label-column", "data-mean", "data-deviation",
                                 "model",        "backend",   "isa"};

std::vector<Option> evaluation_task_options() {
  const std::string group = "Task (default: the run's own)";
  return {{.name = "data",
           .value_name = "SPEC",
           .group = group,
           .description = "training data and their test set, where they have moved, say; as in"
                          " rubato train --help"},
          {.name = "test-data",
           .value_name = "SPEC",
           .group = group,
           .description = "other samples, standardised as the training data are"},
          {.name = "test-every",
           .kind = OptionKind::integer,
           .value_name = "K",
           .group = group,
           .description = "every K-th sample of the training data tests"},
          {.name = "label-column",
           .value_name = "NAME",
           .group = group,
           .description = "for csv: the label's column, by name or number from 0"},
          {.name = "data-mean",
           .value_name = "M,...",
           .group = group,
           .description = "what is subtracted from values in [0, 1], for each channel or for all"},
          {.name = "data-deviation",
           .value_name = "S,...",
           .group = group,
           .description = "what they are divided by then"},
          {.name = "model",
           .value_name = "SPEC",
           .group = group,
           .description = "of a checkpoint without a configuration: the model"}};
}

std::vector<Option> evaluation_execution_options() {
  const std::string group = "Execution (default: as the run)";
  return {{.name = "backend",
           .kind = OptionKind::choice,
           .group = group,
           .description = "what computes layers; each rounds in its own way, onednn-direct more"
                          " exactly than onednn",
           .choices = {"auto", "onednn", "onednn-direct", "eigen"}},
          {.name = "isa",
           .value_name = "NAME",
           .group = group,
           .description = "the widest instruction set that onednn may use"}};
}

void require_known(const EvaluationTask& task) {
  require_choice("data", kind_of(task.data.spec), data::data_spec_names());
  if (task.data.test_spec) {
    require_choice("test-data", kind_of(*task.data.test_spec), data::data_spec_names());
  }
  require_choice("model", kind_of(task.model), nn::model_names());
}

}  // namespace

OptionTable evaluate_table() {
  std::vector<Option> options{
      {.name = "where",
       .value_name = "NAME=VALUE,...",
       .group = "Of a study",
       .description = "the cell of the study DIR that is so; the names are those of its grid, and"
                      " options of train"}};
  for (Option& option : evaluation_task_options()) options.push_back(std::move(option));
  for (Option& option : evaluation_execution_options()) options.push_back(std::move(option));
  options.push_back({.name = "format",
                     .kind = OptionKind::choice,
                     .default_value = "text",
                     .group = "Output",
                     .description = "for people, or one JSON document",
                     .choices = {"text", "json"}});
  return {{.command = "evaluate",
           .summary = "accuracy and loss of a checkpoint on its test set, for each class too.",
           .example = "rubato evaluate runs/first\n"
                      "  rubato evaluate runs/study --where batch=1024,optimizer=lars,seed=1\n"
                      "  mpirun -q -n 4 rubato evaluate runs/first/checkpoints/ckpt-500.h5",
           .notes = "Of a directory the newest good checkpoint, and the evaluations that the run"
                    " has made so far\n(DIR/metrics.jsonl). The output is the same for every number"
                    " of ranks, and accuracy and\nloss are those that the run itself found there,"
                    " to the last bit.",
           .alternatives = {{"test-data", "test-every"}},
           .positionals = {.names = "CHECKPOINT|DIR", .least = 1, .most = 1}},
          options};
}

EvaluationTask evaluation_task(const Options& options, const std::string& configuration) {
  for (const char* name : {"data", "model"}) {
    if (!configuration.empty() || options.has_value(name)) continue;
    throw UsageError(options.positionals().front() +
                     " has no configuration of a run, as one of a program of its own has none: "
                     "give --data SPEC and --model SPEC");
  }
  std::vector<std::string> words;
  for (const char* name : of_training) {
    if (!options.has_value(name)) continue;
    const bool is_number = std::string(name) == "test-every";
    words.insert(words.end(),
                 {std::string("--") + name,
                  is_number ? std::to_string(options.integer(name)) : options.text(name)});
  }
  const Options whole = train_table().parse(words, configuration);
  EvaluationTask task{data_options(whole), whole.text("model"), whole.text("backend"),
                      whole.text("isa")};
  require_known(task);
  return task;
}

}  // namespace rubato::app
