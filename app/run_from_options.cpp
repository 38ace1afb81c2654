// Each part of a run from its options. What has no value here was ruled out by another option, or
// has its default in the library.
#include "app/run_from_options.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/adaptive_option.hpp"
#include "app/failure.hpp"
#include "app/option_value.hpp"
#include "app/spelling.hpp"
#include "data/crop_flip.hpp"
#include "data/data_source.hpp"
#include "nn/model_zoo.hpp"
#include "optim/scaling_rules.hpp"

namespace rubato::app {
namespace {

void require_task(const Options& options) {
  if (!options.has_value("data")) throw UsageError("no data: give --data SPEC (digits, say)");
  for (const char* name : {"data", "test-data"}) {
    if (const auto spec = options.text_if(name)) {
      require_choice(name, kind_of(*spec), data::data_spec_names());
    }
  }
  require_choice("model", kind_of(options.text("model")), nn::model_names());
  for (const char* name : {"trace", "batch-size", "adaptive"}) {
    if (options.has_value(name)) return;
  }
  throw UsageError("no batch size: give --trace FILE.csv, --batch-size N or --adaptive LIMITS");
}

// What would be ignored in silence otherwise.
void require_effect(const Options& options) {
  if (options.text("rule") == "legw" && !options.has_value("legw-warmup")) {
    throw UsageError("--rule legw: give the warm-up of the reference batch, --legw-warmup E");
  }
  const bool has_warmup = options.number("warmup") > 0;
  if (options.number_if("warmup-start").value_or(0) > 0 && !has_warmup) {
    throw UsageError("--warmup-start: there is no warm-up to start; give its length, --warmup U");
  }
  if (options.number("warmup-multiplier") != 1 && !has_warmup) {
    throw UsageError("--warmup-multiplier: there is no warm-up; give its length, --warmup U");
  }
  if (options.text("schedule-by") != "epoch" && options.text("schedule") == "constant" &&
      !has_warmup) {
    throw UsageError("--schedule-by " + options.text("schedule-by") +
                     ": nothing counts in it; give --schedule or --warmup");
  }
  if (options.has_value("out")) return;
  const auto refuse = [](const std::string& name) {
    throw UsageError("--" + name + ": no directory is written to; give --out DIR");
  };
  for (const char* name : {"overwrite", "resume", "allow-other-kernels"}) {
    if (options.flag(name)) refuse(name);
  }
  if (options.flag("tensorboard") && options.is_given("tensorboard")) refuse("tensorboard");
  for (const char* name : {"stop-after-update", "max-seconds"}) {
    if (options.is_given(name)) refuse(name);
  }
}

void set_if_given(double& value, const Options& options, std::string_view name) {
  value = options.number_if(name).value_or(value);
}

// Numbers with commas between; none where there is no value.
template <class T>
std::vector<T> numbers(const Options& options, const std::string& name) {
  std::vector<T> values;
  std::istringstream list(options.text_if(name).value_or(""));
  for (std::string item; std::getline(list, item, ',');) {
    const auto value = parse_whole<T>(item);
    if (!value || !std::isfinite(*value)) {
      throw UsageError("--" + name + ": found \"" + item + "\", expected a number");
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<double> milestones(const Options& options) {
  if (options.text("schedule") == "multistep" && !options.has_value("milestones")) {
    throw UsageError("--schedule multistep: give its --milestones U,U,...");
  }
  return numbers<double>(options, "milestones");
}

// Of a descent: as given, or what the epochs leave after the warm-up. The study's forms take all of
// them.
double span_of(const Options& options) {
  if (const auto span = options.number_if("span")) return *span;
  const std::string& schedule = options.text("schedule");
  if (schedule != "cosine" && schedule != "polynomial") return 0;
  const auto epochs = options.integer_if("epochs");
  if (!epochs || options.text("schedule-by") != "epoch") {
    throw UsageError("--schedule " + schedule + ": give its length, --span U");
  }
  const bool is_plain = options.text_if("polynomial-form").value_or("plain") == "plain";
  const double span = static_cast<double>(*epochs) - (is_plain ? options.number("warmup") : 0);
  if (span > 0) return span;
  throw UsageError("--schedule " + schedule +
                   ": the warm-up takes all of --epochs; make it shorter");
}

optim::OptimizerOptions optimizer_of(const Options& options) {
  optim::OptimizerOptions optimizer{.name = options.text("optimizer")};
  if (const auto form = options.text_if("momentum-form")) {
    optimizer.form = optim::momentum_form(*form);
  }
  optimizer.nesterov = options.flag("nesterov");
  if (const auto form = options.text_if("lars-form")) optimizer.lars_form = optim::lars_form(*form);
  optimizer.weight_decay = options.number("weight-decay");
  set_if_given(optimizer.momentum, options, "momentum");
  set_if_given(optimizer.beta1, options, "beta1");
  set_if_given(optimizer.beta2, options, "beta2");
  set_if_given(optimizer.epsilon, options, "epsilon");
  set_if_given(optimizer.rho, options, "rho");
  set_if_given(optimizer.trust, options, "trust");
  for (const char* name : {"adadelta-epsilon", "lars-epsilon", "lamb-epsilon"}) {
    set_if_given(optimizer.epsilon, options, name);
  }
  return optimizer;
}

optim::ScheduleOptions schedule_of(const Options& options) {
  optim::ScheduleOptions schedule{.name = options.text("schedule"),
                                  .unit = optim::schedule_unit(options.text("schedule-by")),
                                  .base_rate = options.number("lr")};
  set_if_given(schedule.gamma, options, "gamma");
  set_if_given(schedule.step_size, options, "step-size");
  schedule.milestones = milestones(options);
  schedule.span = span_of(options);
  set_if_given(schedule.end_rate, options, "end-lr");
  set_if_given(schedule.power, options, "power");
  schedule.warmup_span = options.number("warmup");
  schedule.warmup_multiplier = options.number("warmup-multiplier");
  schedule.warmup_start =
      options.number_if("warmup-start").value_or(schedule.warmup_multiplier == 1 ? 0 : 1);
  if (const auto form = options.text_if("polynomial-form")) {
    schedule.polynomial_form = optim::polynomial_form(*form);
  }
  return schedule;
}

void describe_statistics(const Options& options, runtime::RunOptions& run) {
  run.clip_norm = options.number_if("clip-norm").value_or(0);
  run.legw_warmup = options.number_if("legw-warmup");
  run.single_minibatch = optim::single_minibatch(options.text("single-minibatch"));
  run.noise_metric = optim::noise_metric(options.text("noise-metric"));
  run.measures_tensors = options.flag("tensor-noise");
}

void describe_batches(const Options& options, runtime::RunOptions& run) {
  run.seed = options.integer("seed");
  run.order = data::order_kind(options.text("order"));
  run.trace_file = options.text_if("trace").value_or("");
  run.batch_size = options.integer_if("batch-size").value_or(0);
  run.minibatch = options.integer("minibatch");
  if (const auto limits = batch_limits(options)) run.adaptive = {.limits = *limits};
  run.trace_end = data::trace_end(options.text("trace-end"));
  run.epoch_end = data::epoch_end(options.text("epoch-end"));
  run.epochs = options.integer_if("epochs");
  run.updates = options.integer_if("updates");
  run.until_progress = options.number_if("until-progress");
}

// It speaks and acts from a thread of its own, on whichever rank can: MPI may be what hangs.
runtime::WatchdogOptions watchdog(double hang_timeout_seconds) {
  const auto print = [](const std::string& line) {
    std::fputs((line + "\n").c_str(), stderr);  // one write: lines of ranks do not mix
  };
  runtime::WatchdogOptions options;
  options.hang_timeout_seconds = hang_timeout_seconds;
  options.on_warning = [print](const std::string& sentence) {
    print("rubato: warning: " + sentence);
  };
  options.on_straggler = options.on_warning;
  options.on_hang = [print](const std::string& sentence) {
    if (!sentence.empty()) print("rubato: the run hangs: " + sentence);
    ::_exit(exit_system);
  };
  return options;
}

constexpr std::uint64_t largest_exit_code = 255;

void describe_execution(const Options& options, runtime::RunOptions& run) {
  run.sum = optim::sum_kind(options.text("sum"));
  run.backend = options.text("backend");
  run.isa = options.text("isa");
  run.assignment = data::assignment(options.text("assignment"));
  run.allreduce = collectives::allreduce_algorithm(options.text("allreduce"));
  if (options.flag("shadow-rates")) run.shadow_rules = optim::rule_names();
  run.evaluate_every = options.integer_if("evaluate-every");
  if (const auto output = options.text_if("out")) run.output = *output;
  if (const auto file = options.text_if("timeline")) run.timeline = *file;
  run.writes_tensorboard = options.flag("tensorboard");
  run.output_mode = output_mode(options);
  run.accepts_other_kernels = options.flag("allow-other-kernels");
  run.skips_nonfinite = options.text("on-nonfinite") == "skip";
  run.checkpoint_every = options.integer_if("checkpoint-every");
  run.kept_checkpoints = options.integer("keep");
  run.stop_after_update = options.integer_if("stop-after-update");
  run.max_seconds = options.number_if("max-seconds");
  if (options.integer("preempt-exit-code") > largest_exit_code) {
    throw UsageError("--preempt-exit-code " + std::to_string(options.integer("preempt-exit-code")) +
                     ": an exit code is at most 255");
  }
  run.watchdog = watchdog(options.number("hang-timeout"));
  run.configuration = options.as_ini();
}

}  // namespace

data::DataOptions data_options(const Options& options) {
  data::DataOptions data{options.text("data"),
                         options.text_if("test-data"),
                         options.integer_if("test-every"),
                         options.text_if("label-column"),
                         numbers<float>(options, "data-mean"),
                         numbers<float>(options, "data-deviation")};
  for (const float deviation : data.deviation) {
    if (deviation > 0) continue;
    throw UsageError("--data-deviation " + options.text("data-deviation") +
                     ": expected numbers above 0");
  }
  return data;
}

runtime::OutputMode output_mode(const Options& options) {
  if (options.flag("resume")) return runtime::OutputMode::resume;
  return options.flag("overwrite") ? runtime::OutputMode::overwrite : runtime::OutputMode::fresh;
}

runtime::RunOptions run_from(const Options& options) {
  require_task(options);
  require_effect(options);
  runtime::RunOptions run;
  run.data = data_options(options);
  run.augmentation = data::augmentation(options.text("augment"));
  run.model = options.text("model");
  describe_batches(options, run);
  run.optimizer = optimizer_of(options);
  run.schedule = schedule_of(options);
  run.rule = options.text("rule");
  run.reference_batch = options.number_if("reference-batch");
  describe_statistics(options, run);
  describe_execution(options, run);
  return run;
}

}  // namespace rubato::app
