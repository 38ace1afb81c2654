// See plan_options.hpp.
#include "app/plan_options.hpp"

#include <utility>

#include "app/failure.hpp"
#include "data/data_source.hpp"
#include "data/errors.hpp"

namespace rubato::app {

std::vector<Option> plan_options() {
  const std::string group = "Batch sizes";
  return {
      {.name = "trace",
       .value_name = "FILE.csv",
       .group = group,
       .description = "global batch size of each update (column batchsize), one row an update; or,"
                      " with a column update, rows that hold until the next one; a column minibatch"
                      " wins over --minibatch",
       .may_change = true},
      {.name = "batch-size",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "the same global batch size for every update, instead of a trace"},
      {.name = "minibatch",
       .kind = OptionKind::integer,
       .default_value = "32",
       .value_name = "N",
       .group = group,
       .description = "samples of one forward and backward pass"},
      {.name = "epochs",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "end after so many epochs; with a trace the default is its end",
       .may_change = true},
      {.name = "updates",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "end after so many updates",
       .may_change = true},
      {.name = "trace-end",
       .kind = OptionKind::choice,
       .default_value = "error",
       .group = group,
       .description = "error: refuse a trace that ends before --epochs or --updates; repeat-last: "
                      "go on with its last row; stop: end there",
       .choices = {"error", "repeat-last", "stop"},
       .may_change = true},
      {.name = "epoch-end",
       .kind = OptionKind::choice,
       .default_value = "drop",
       .group = group,
       .description = "drop: an update that no longer fits into the epoch waits for the next one;"
                      " carry: it goes on into it; cut: it ends with its epoch, however few samples"
                      " are left (PyTorch's drop_last=False)",
       .choices = {"drop", "carry", "cut"}},
  };
}

std::vector<Option> order_options(bool measures_ranks) {
  const std::string group = "Order";
  std::vector<Option> options{
      {.name = "seed",
       .kind = OptionKind::integer,
       .default_value = "42",
       .value_name = "N",
       .group = group,
       .description = "of all random numbers: order of the samples, initial weights, dropout",
       .range = OptionRange::not_negative},
      {.name = "order",
       .kind = OptionKind::choice,
       .default_value = "torch",
       .group = group,
       .description = "torch: each epoch in the order that PyTorch would give it; feistel: a "
                      "permutation that takes no memory, for huge data sets",
       .choices = {"torch", "feistel"}},
      {.name = "assignment",
       .kind = OptionKind::choice,
       .default_value = "blocked",
       .group = group,
       .description = "which rank runs which minibatches; changes no result of exact sums",
       .choices = {"blocked", "strided"},
       .may_change = true},
  };
  if (measures_ranks) {
    options.back().description += "; balanced: the faster a rank is found to be, the more";
    options.back().choices.emplace_back("balanced");
  }
  return options;
}

std::vector<std::vector<std::string>> plan_alternatives() {
  return {{"trace", "batch-size"}, {"epochs", "updates"}};
}

std::vector<Option> size_options() {
  const std::string group = "Training set";
  return {
      {.name = "samples",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "its size"},
      {.name = "data",
       .value_name = "SPEC",
       .group = group,
       .description = "take its size from this data set, named as for rubato train"},
  };
}

std::uint64_t training_samples(const Options& options) {
  if (const auto samples = options.integer_if("samples")) return *samples;
  if (const auto spec = options.text_if("data")) {
    data::DataOptions source;
    source.spec = *spec;
    return data::open_data(source).train->size();
  }
  throw UsageError("size of the training set unknown: give --samples N or --data SPEC");
}

data::BatchTrace read_trace(const Options& options) {
  if (const auto file = options.text_if("trace")) return data::BatchTrace::from_csv(*file);
  if (const auto size = options.integer_if("batch-size")) return data::BatchTrace::constant(*size);
  throw UsageError("no batch size: give --trace FILE.csv or --batch-size N");
}

data::TracePlan make_plan(data::BatchTrace trace, const Options& options, std::uint64_t samples) {
  const data::PlanOptions plan{
      .samples = samples,
      .minibatch = options.integer("minibatch"),
      .trace_end = data::trace_end(options.text("trace-end")),
      .epoch_end = data::epoch_end(options.text("epoch-end")),
      .epochs = options.integer_if("epochs"),
      .updates = options.integer_if("updates"),
  };
  const bool is_from_file = !trace.is_constant();
  try {
    return data::TracePlan(std::move(trace), plan);
  } catch (const data::ContentError& error) {
    if (is_from_file) throw;
    throw UsageError(error.what());
  }
}

void require_end(const data::TracePlan& plan) {
  if (plan.total_updates()) return;
  throw UsageError("the plan has no end: give --epochs N or --updates N");
}

}  // namespace rubato::app
