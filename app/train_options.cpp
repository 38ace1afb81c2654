// Group by group in the order of the help: what is trained, on which batches (plan_options.hpp),
// how it learns, how it is carried out.
#include "app/train_options.hpp"

#include <string>
#include <utility>
#include <vector>

#include "app/adaptive_option.hpp"
#include "app/learning_options.hpp"
#include "app/plan_options.hpp"
#include "collectives/allreduce.hpp"
#include "data/crop_flip.hpp"
#include "data/data_source.hpp"

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
       .description = "training data, with their test set if they have one; required, as below",
       .may_change = true},
      {.name = "test-data",
       .value_name = "SPEC",
       .group = group,
       .description = "test set from another source, in place of the data's own",
       .may_change = true},
      {.name = "test-every",
       .kind = OptionKind::integer,
       .value_name = "K",
       .group = group,
       .description = "for data without a test set: every K-th sample tests, the others train",
       .may_change = true},
      {.name = "label-column",
       .value_name = "NAME",
       .group = group,
       .description = "for csv: the label's column, by name or number from 0; default the last",
       .may_change = true},
      {.name = "data-mean",
       .value_name = "M,...",
       .group = group,
       .description = "what is subtracted from values in [0, 1], one number for each channel or one"
                      " for all; default that of the data"},
      {.name = "data-deviation",
       .value_name = "S,...",
       .group = group,
       .description = "what they are divided by then, in the same form"},
      {.name = "augment",
       .kind = OptionKind::choice,
       .default_value = "none",
       .group = group,
       .description = "crop-flip: training images, padded with zeros by 4 pixels, are cropped at"
                      " random, and every other one is mirrored; anew in each epoch",
       .choices = data::augmentation_names()},
      {.name = "model",
       .default_value = "mlp:512,512",
       .value_name = "SPEC",
       .group = group,
       .description = "what is trained, as below"},
  };
}

std::vector<Option> execution_options() {
  const std::string group = "Execution";
  return {
      {.name = "sum",
       .kind = OptionKind::choice,
       .default_value = "exact",
       .group = group,
       .description = "exact: gradients add up to the same bits on any number of ranks; fast:"
                      " plain float, the last bits depend on the ranks",
       .choices = {"exact", "fast"}},
      {.name = "allreduce",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "how sums travel between ranks; speed only. With auto hosts may also send"
                      " what gradients of dense layers are made of, where that is faster",
       .choices = collectives::allreduce_algorithm_names(),
       .may_change = true},
      {.name = "backend",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "what computes layers; each rounds in its own way, onednn-direct more"
                      " exactly than onednn",
       .choices = {"auto", "onednn", "onednn-direct", "eigen"},
       .may_change = true},
      {.name = "isa",
       .default_value = "auto",
       .value_name = "NAME",
       .group = group,
       .description = "the widest instruction set that onednn may use (avx2, say): give it where"
                      " hosts differ",
       .may_change = true},
  };
}

std::vector<Option> output_options() {
  const std::string group = "Output";
  return {
      {.name = "out",
       .value_name = "DIR",
       .group = group,
       .description = "write config.ini, metrics.jsonl and checkpoints there; default nothing",
       .is_recorded = false},
      {.name = "overwrite",
       .kind = OptionKind::flag,
       .group = group,
       .description = "replace the run that DIR holds",
       .is_recorded = false},
      {.name = "resume",
       .kind = OptionKind::flag,
       .group = group,
       .description = "go on with the run that DIR holds, from its newest good checkpoint and with"
                      " its options; begin one where there is none",
       .is_recorded = false},
      {.name = "allow-other-kernels",
       .kind = OptionKind::flag,
       .group = group,
       .description = "resume also where program, compiler or processor round otherwise",
       .is_recorded = false},
      {.name = "log-every",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "report every N-th update too, not the ends of epochs only",
       .is_recorded = false},
      {.name = "evaluate-every",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "evaluate after every N training samples too, not at the ends of epochs only",
       .may_change = true},
      {.name = "tensorboard",
       .kind = OptionKind::flag,
       .group = group,
       .description = "write what the curves of TensorBoard show to DIR/tensorboard, too",
       .may_change = true},
      {.name = "timeline",
       .value_name = "FILE.json",
       .group = group,
       .description = "write there, at the end, what every rank did when, for ui.perfetto.dev; of a"
                      " long run its last updates",
       .is_recorded = false},
      {.name = "progress",
       .kind = OptionKind::choice,
       .default_value = "auto",
       .group = group,
       .description = "a line on standard error, rewritten as the run goes on; auto: always on a"
                      " terminal, never otherwise",
       .choices = {"auto", "always", "never"},
       .is_recorded = false},
      {.name = "format",
       .kind = OptionKind::choice,
       .default_value = "text",
       .group = group,
       .description = "text: a table as the run goes on; json: one document at its end",
       .choices = {"text", "json"},
       .is_recorded = false},
  };
}

std::vector<Option> checkpoint_options() {
  const std::string group = "Checkpoints, stopping";
  return {
      {.name = "checkpoint-every",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "write one after every N updates; default every 60 s, and at the end",
       .may_change = true},
      {.name = "keep",
       .kind = OptionKind::integer,
       .default_value = "3",
       .value_name = "K",
       .group = group,
       .description = "how many of them stay, besides that of update 0",
       .may_change = true},
      {.name = "stop-after-update",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "stop there, to be resumed; so does a SIGUSR1 to mpirun, at once",
       .is_recorded = false},
      {.name = "max-seconds",
       .kind = OptionKind::number,
       .value_name = "S",
       .group = group,
       .description = "stop after so long, to be resumed",
       .is_recorded = false},
      {.name = "preempt-exit-code",
       .kind = OptionKind::integer,
       .default_value = "75",
       .value_name = "N",
       .group = group,
       .description = "exit code of a run that was stopped",
       .may_change = true},
      {.name = "hang-timeout",
       .kind = OptionKind::number,
       .default_value = "600",
       .value_name = "S",
       .group = group,
       .description = "end the job, naming the rank, when nothing has moved for so long (a warning"
                      " comes before); 0: never",
       .range = OptionRange::not_negative,
       .may_change = true},
      {.name = "on-nonfinite",
       .kind = OptionKind::choice,
       .default_value = "stop",
       .group = group,
       .description =
           "a loss or gradient that is not finite: stop with an error, or skip the update",
       .choices = {"stop", "skip"},
       .may_change = true},
  };
}

std::string notes() {
  std::string text = "SPEC of --data and --test-data:\n";
  for (const std::string& line : data::describe_data_specs()) text += "  " + line + "\n";
  return text +
         "\nSPEC of --model:\n"
         "  linear: one dense layer\n"
         "  mlp:N,N,...: dense layers of these widths with ReLU between, and one to the classes\n"
         "  mnist: two 5x5 convolutions, each with max-pool, ReLU and batch normalisation, two"
         " dense layers\n"
         "  mnist-tutorial[:dropout=0]: two 3x3 convolutions, max-pool, two dense layers, dropout\n"
         "  resnet20, resnet32, resnet56: residual networks for small images (CIFAR)\n"
         "  resnet18, resnet50: residual networks for large images, weights as torchvision's\n"
         "\nThe table has one row at the end of every epoch, after an evaluation where there is a"
         " test set.\nloss and gain are those of the last update, progress is the sum of the gains "
         "so"
         " far, samples/s\nis the speed of training since the row before (without the first update"
         " of the run, which also\nstarts the kernels).\n"
         "\nA run is defined by its options: ranks, hosts, --assignment and --allreduce change its"
         " speed only.";
}

}  // namespace

OptionTable train_table() {
  std::vector<Option> options = task_options();
  append(options, plan_options());
  append(options, adaptive_options());
  append(options, {{.name = "replay",
                    .value_name = "DIR",
                    .group = "Batch sizes",
                    .description = "the run that DIR holds again: its options beneath those given,"
                                   " and what it decided",
                    .is_recorded = false}});
  append(options, {{.name = "until-progress",
                    .kind = OptionKind::number,
                    .value_name = "T",
                    .group = "Batch sizes",
                    .description = "end when the progress (the sum of the gains) reaches T",
                    .may_change = true}});
  append(options, learning_options());
  append(options, order_options(/*measures_ranks=*/true));
  append(options, execution_options());
  append(options, output_options());
  append(options, checkpoint_options());
  auto alternatives = plan_alternatives();
  for (const char* name : {"adaptive", "replay"}) alternatives.front().emplace_back(name);
  alternatives.push_back({"config", "replay"});
  alternatives.push_back({"test-data", "test-every"});
  alternatives.push_back({"resume", "overwrite"});
  return {{.command = "train",
           .summary = "train a model; the global batch size may change at every update.",
           .example = "mpirun -q -n 2 rubato train --data fashion-mnist --model mnist \\\n"
                      "    --trace trace.csv --rule adascale --out runs/first\n"
                      "  mpirun -q -n 3 rubato train --out runs/first --resume\n"
                      "  rubato train --config runs/first/config.ini --out runs/again",
           .notes = notes(),
           .reads_config = true,
           .alternatives = std::move(alternatives)},
          options};
}

}  // namespace rubato::app
