// Group by group in the order of the help: what is trained, on which batches, how it learns, how it
// is carried out.
#include "app/train_options.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "app/failure.hpp"
#include "app/option_value.hpp"
#include "app/plan_options.hpp"
#include "app/spelling.hpp"
#include "collectives/allreduce.hpp"
#include "nn/backend.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::app {
namespace {

void append(std::vector<Option>& options, std::vector<Option> more) {
  for (Option& option : more) options.push_back(std::move(option));
}

std::vector<Option> task_options() {
  const std::string group = "Task";
  return {
      {.name = "data",
       .value_name = "SPEC",
       .group = group,
       .description = "training data (required): digits, mnist, fashion-mnist, cifar10, idx:DIR, "
                      "csv:FILE, hdf5:FILE, synthetic"},
      {.name = "test-data",
       .value_name = "SPEC",
       .group = group,
       .description = "test data, where the training data come without"},
      {.name = "test-every",
       .kind = OptionKind::integer,
       .value_name = "K",
       .group = group,
       .description = "every K-th sample tests, where the data come without a test set"},
      {.name = "label-column",
       .value_name = "NAME",
       .group = group,
       .description = "of a CSV file: name or number from 0; default the last"},
      {.name = "model",
       .default_value = "mlp:512,512",
       .value_name = "SPEC",
       .group = group,
       .description = "linear, mlp:WIDTHS, mnist, mnist-tutorial[:dropout=0]"},
  };
}

std::vector<Option> optimizer_options() {
  const std::string group = "Optimizer";
  return {
      {.name = "optimizer",
       .kind = OptionKind::choice,
       .default_value = "sgd",
       .group = group,
       .description = "how a gradient changes the parameters",
       .choices = optim::optimizer_names()},
      {.name = "momentum",
       .kind = OptionKind::number,
       .default_value = "0.9",
       .value_name = "X",
       .group = group,
       .description = "of sgd",
       .range = OptionRange::not_negative},
      {.name = "momentum-form",
       .kind = OptionKind::choice,
       .default_value = "torch",
       .group = group,
       .description = "the rate outside the momentum buffer (torch), inside (v), or inside and "
                      "rescaled with the rate (v-corrected)",
       .choices = {"torch", "v", "v-corrected"}},
      {.name = "nesterov",
       .kind = OptionKind::flag,
       .group = group,
       .description = "look ahead along the momentum"},
      {.name = "weight-decay",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "pull of the parameters to zero",
       .range = OptionRange::not_negative},
      {.name = "beta1",
       .kind = OptionKind::number,
       .default_value = "0.9",
       .value_name = "X",
       .group = group,
       .description = "of adam, adamw",
       .range = OptionRange::not_negative},
      {.name = "beta2",
       .kind = OptionKind::number,
       .default_value = "0.999",
       .value_name = "X",
       .group = group,
       .description = "of adam, adamw",
       .range = OptionRange::not_negative},
      {.name = "epsilon",
       .kind = OptionKind::number,
       .default_value = "1e-8",
       .value_name = "X",
       .group = group,
       .description = "of adam, adamw"},
  };
}

std::vector<Option> rate_options() {
  const std::string group = "Learning rate";
  return {
      {.name = "lr",
       .kind = OptionKind::number,
       .default_value = "0.05",
       .value_name = "X",
       .group = group,
       .description = "at the reference batch, before schedule and rule"},
      {.name = "rule",
       .kind = OptionKind::choice,
       .default_value = "linear",
       .group = group,
       .description = "how the rate follows the batch size",
       .choices = optim::rule_names()},
      {.name = "reference-batch",
       .kind = OptionKind::number,
       .value_name = "N",
       .group = group,
       .description = "the batch size that the rate was made for; default the first update's"},
      {.name = "shadow-rates",
       .kind = OptionKind::flag,
       .group = group,
       .description = "log what every other rule would have chosen"},
      {.name = "schedule",
       .kind = OptionKind::choice,
       .default_value = "constant",
       .group = group,
       .description = "how the rate changes along the run",
       .choices = optim::schedule_names()},
      {.name = "schedule-by",
       .kind = OptionKind::choice,
       .default_value = "epoch",
       .group = group,
       .description = "what the schedule counts in",
       .choices = {"update", "sample", "epoch", "progress"}},
      {.name = "gamma",
       .kind = OptionKind::number,
       .default_value = "0.1",
       .value_name = "X",
       .group = group,
       .description = "of step and multistep: factor at each milestone"},
      {.name = "step-size",
       .kind = OptionKind::number,
       .default_value = "1",
       .value_name = "X",
       .group = group,
       .description = "of step: distance of the milestones, as --schedule-by"},
      {.name = "milestones",
       .value_name = "X,X,...",
       .group = group,
       .description = "of multistep, as --schedule-by"},
      {.name = "span",
       .kind = OptionKind::number,
       .value_name = "X",
       .group = group,
       .description = "of cosine: its length, as --schedule-by; default the rest of --epochs"},
      {.name = "end-lr",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "of cosine",
       .range = OptionRange::not_negative},
      {.name = "warmup",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "length of a linear warm-up, as --schedule-by",
       .range = OptionRange::not_negative},
      {.name = "warmup-start",
       .kind = OptionKind::number,
       .default_value = "0",
       .value_name = "X",
       .group = group,
       .description = "fraction of the rate that it starts at",
       .range = OptionRange::not_negative},
  };
}

std::vector<Option> carrying_out_options() {
  const std::string group = "Carrying it out";
  return {
      {.name = "until-progress",
       .kind = OptionKind::number,
       .value_name = "T",
       .group = "Batch sizes",
       .description = "end when the scale-invariant progress (the sum of the gains) reaches T"},
      {.name = "sum",
       .kind = OptionKind::choice,
       .default_value = "exact",
       .group = group,
       .description = "of gradients: the same bits for any number of ranks, or plain float",
       .choices = {"exact", "fast"}},
      {.name = "allreduce",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "how sums travel; changes no bit of the exact one",
       .choices = collectives::allreduce_algorithm_names()},
      {.name = "backend",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "kernels that compute",
       .choices = {"auto", "onednn", "eigen"}},
      {.name = "isa",
       .default_value = "auto",
       .value_name = "NAME",
       .group = group,
       .description = "the most that kernels may use of the instruction set: auto, avx2, ..."},
      {.name = "out",
       .value_name = "DIR",
       .group = "Output",
       .description = "write config.ini, metrics.jsonl and checkpoints there; default nothing",
       .is_recorded = false},
      {.name = "overwrite",
       .kind = OptionKind::flag,
       .group = "Output",
       .description = "replace the run that DIR holds",
       .is_recorded = false},
      {.name = "log-every",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = "Output",
       .description = "print every N-th update, not only evaluations",
       .is_recorded = false},
      {.name = "progress",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = "Output",
       .description = "a progress line; auto: on a terminal",
       .choices = {"auto", "always", "never"},
       .is_recorded = false},
      {.name = "format",
       .kind = OptionKind::choice,
       .default_value = "text",
       .group = "Output",
       .description = "a table, or one JSON document at the end",
       .choices = {"text", "json"},
       .is_recorded = false},
  };
}

// "mlp:512,512" and "mnist" are both checked by what stands before the colon.
std::string kind_of(const std::string& spec) { return spec.substr(0, spec.find(':')); }

std::vector<std::string> kinds_of(const std::vector<std::string>& specs) {
  std::vector<std::string> kinds;
  for (const std::string& spec : specs) kinds.push_back(kind_of(spec));
  return kinds;
}

std::vector<double> milestones(const Options& options) {
  std::vector<double> values;
  std::istringstream list(options.text_if("milestones").value_or(""));
  for (std::string item; std::getline(list, item, ',');) {
    const auto value = parse_whole<double>(item);
    if (!value) throw UsageError("--milestones: found \"" + item + "\", expected a number");
    values.push_back(*value);
  }
  return values;
}

double span_of(const Options& options) {
  if (const auto span = options.number_if("span")) return *span;
  if (options.text("schedule") != "cosine") return 0;
  const auto epochs = options.integer_if("epochs");
  if (!epochs || options.text("schedule-by") != "epoch") {
    throw UsageError("--schedule cosine: give its length with --span X");
  }
  return static_cast<double>(*epochs) - options.number("warmup");
}

optim::OptimizerOptions optimizer_of(const Options& options) {
  const bool has_momentum = options.text("optimizer") == "sgd";
  return {.name = options.text("optimizer"),
          .momentum = has_momentum ? options.number("momentum") : 0,
          .form = optim::momentum_form(options.text("momentum-form")),
          .nesterov = options.flag("nesterov"),
          .weight_decay = options.number("weight-decay"),
          .beta1 = options.number("beta1"),
          .beta2 = options.number("beta2"),
          .epsilon = options.number("epsilon")};
}

optim::ScheduleOptions schedule_of(const Options& options) {
  return {.name = options.text("schedule"),
          .unit = optim::schedule_unit(options.text("schedule-by")),
          .base_rate = options.number("lr"),
          .gamma = options.number("gamma"),
          .step_size = options.number("step-size"),
          .milestones = milestones(options),
          .span = span_of(options),
          .end_rate = options.number("end-lr"),
          .warmup_span = options.number("warmup"),
          .warmup_start = options.number("warmup-start")};
}

}  // namespace

OptionTable train_table() {
  std::vector<Option> options = task_options();
  append(options, plan_options());
  append(options, rate_options());
  append(options, optimizer_options());
  append(options, order_options());
  append(options, carrying_out_options());
  return {{.command = "train",
           .summary = "train a model; the global batch size may change at every update.",
           .example = "mpirun -q -n 2 rubato train --data fashion-mnist --model mnist"
                      " --trace trace.csv --rule adascale --out runs/first",
           .notes = "A run is defined by its options; ranks, hosts, --assignment and --allreduce"
                    " change its speed only.",
           .reads_config = true,
           .alternatives = plan_alternatives()},
          options};
}

runtime::RunOptions run_options(const Options& options) {
  if (!options.has_value("data")) throw UsageError("no data: give --data SPEC (digits, say)");
  require_choice("data", kind_of(options.text("data")), data::data_spec_names());
  require_choice("model", kind_of(options.text("model")), kinds_of(nn::model_names()));
  if (!options.has_value("trace") && !options.has_value("batch-size")) {
    throw UsageError("no batch size: give --trace FILE.csv or --batch-size N");
  }
  runtime::RunOptions run;
  run.data = {options.text("data"), options.text_if("test-data"), options.integer_if("test-every"),
              options.text_if("label-column")};
  run.model = options.text("model");
  run.seed = options.integer("seed");
  run.order = data::order_kind(options.text("order"));
  run.trace_file = options.text_if("trace").value_or("");
  run.batch_size = options.integer_if("batch-size").value_or(0);
  run.minibatch = options.integer("minibatch");
  run.trace_end = data::trace_end(options.text("trace-end"));
  run.epoch_end = data::epoch_end(options.text("epoch-end"));
  run.epochs = options.integer_if("epochs");
  run.updates = options.integer_if("updates");
  run.until_progress = options.number_if("until-progress");
  run.optimizer = optimizer_of(options);
  run.schedule = schedule_of(options);
  run.rule = options.text("rule");
  run.reference_batch = options.number_if("reference-batch");
  run.sum = optim::sum_kind(options.text("sum"));
  run.backend = options.text("backend");
  run.isa = options.text("isa");
  run.assignment = data::assignment(options.text("assignment"));
  run.allreduce = collectives::allreduce_algorithm(options.text("allreduce"));
  if (options.flag("shadow-rates")) run.shadow_rules = optim::rule_names();
  if (const auto output = options.text_if("out")) run.output = *output;
  run.may_overwrite = options.flag("overwrite");
  run.configuration = options.as_ini();
  return run;
}

}  // namespace rubato::app
