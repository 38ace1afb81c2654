// See launch_options.hpp.
#include "app/launch_options.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "app/adaptive_option.hpp"
#include "app/failure.hpp"
#include "app/job_options.hpp"
#include "app/run_from_options.hpp"
#include "app/train_options.hpp"
#include "data/data_source.hpp"
#include "data/file_bytes.hpp"
#include "runtime/batch_advisor.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_configuration_bytes = 1 << 20;

std::vector<Option> capacity_options() {
  const std::string group = "Ranks";
  return {
      {.name = "ranks",
       .value_name = "N|MIN:MAX",
       .group = group,
       .description = "how many; with fewer than MIN the run pauses; default 1:the cores here"},
      {.name = "capacity-file",
       .value_name = "FILE",
       .group = group,
       .description = "its text is the number of devices now, one a rank; looked at 10 times a"
                      " second"},
      {.name = "capacity-trace",
       .value_name = "FILE.csv",
       .group = group,
       .description = "replay a recorded capacity: columns time and GPUs, TPU_cores, devices or"
                      " capacity"},
      {.name = "column",
       .value_name = "NAME",
       .group = group,
       .description = "for --capacity-trace: the column of the capacity"},
      {.name = "time-scale",
       .kind = OptionKind::number,
       .default_value = "1",
       .value_name = "S",
       .group = group,
       .description = "for --capacity-trace: seconds of the trace per second"},
      {.name = "settle",
       .kind = OptionKind::number,
       .default_value = "0.5",
       .value_name = "SECONDS",
       .group = group,
       .description = "a new capacity counts once it has stayed for so long",
       .range = OptionRange::not_negative},
  };
}

std::vector<Option> failure_options() {
  const std::string group = "Failures";
  return {
      {.name = "max-restarts",
       .kind = OptionKind::integer,
       .default_value = "10",
       .value_name = "N",
       .group = group,
       .description = "give up after so many restarts in a row without a new update",
       .range = OptionRange::not_negative},
      {.name = "backoff",
       .kind = OptionKind::number,
       .default_value = "1",
       .value_name = "SECONDS",
       .group = group,
       .description = "before the second restart in a row; doubles each time, up to 60",
       .range = OptionRange::not_negative},
      {.name = "stop-grace",
       .kind = OptionKind::number,
       .default_value = "30",
       .value_name = "SECONDS",
       .group = group,
       .description = "a job that has not stopped so long after it was asked to is killed"},
      launcher_option(group),
  };
}

std::string launch_notes() {
  return "TRAIN OPTIONS are those of `rubato train`, with --out DIR. The run goes on from DIR's\n"
         "newest checkpoint whenever it is started, on any number of ranks, to the same result.\n"
         "\nranks = floor(devices * MAX / the trace's largest number); of a capacity file, the"
         " devices,\nat most MAX. Fewer than MIN: the run pauses until they are back. With "
         "--adaptive"
         " the run gets the\nlargest number of ranks, up to that, on which its bounds can be met.\n"
         "\nSIGTERM, SIGINT, SIGHUP, SIGUSR1 or SIGUSR2 stop the run after the update it is in, "
         "with"
         " a\ncheckpoint and exit code 75 (the training's --preempt-exit-code); a second SIGINT"
         " or SIGTERM kills\nit at once. What happened is in DIR/events.jsonl. Exit codes 64, 65, "
         "66 and 73 of the training, and 70"
         " twice at the same update,\nare not worth a restart: they are passed on.";
}

// The training's options: said now, or in the run it goes on with.
Options training_options(const LaunchWords& words) {
  try {
    const auto config = data::read_file(std::filesystem::path(words.directory) / "config.ini",
                                        most_configuration_bytes);
    return train_table().parse(words.train, std::string(data::as_text(config)));
  } catch (const std::exception&) {  // a run reads its checkpoint: no matter what this file holds
    return train_table().parse(words.train);
  }
}

// The most samples that a batch may have: all, where it has to fit into an epoch. Data that cannot
// be read here may be there where the training runs; else that says what is wrong.
std::optional<std::uint64_t> largest_batch(const Options& training) {
  if (training.text("epoch-end") == "carry") return std::nullopt;
  try {
    return data::open_data(data_options(training)).train->size();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// Batch sizes that the run chooses may leave no room for some numbers of ranks.
void use_ranks_within(const optim::BatchLimits& limits, const Options& training, LaunchPlan& plan) {
  const std::optional<std::uint64_t> samples = largest_batch(training);
  plan.usable_ranks = [limits, samples](std::uint64_t ranks) {
    return runtime::most_ranks_within(limits, ranks, samples);
  };
  const std::uint64_t least = plan.limits.least;
  if (plan.usable_ranks(plan.limits.most) < least) {  // throws, and says what is wrong
    runtime::initial_batch(runtime::limits_within(limits, samples, least), least);
  }
}

// The training goes on with what its checkpoint holds, but ends with the code that is expected
// here.
std::vector<std::string> train_command(const LaunchWords& words, const std::string& program,
                                       int stopped_code) {
  std::vector<std::string> command{program, "train"};
  command.insert(command.end(), words.train.begin(), words.train.end());
  const Options given = train_table().parse(words.train);
  if (!given.is_given("preempt-exit-code")) {
    command.insert(command.end(), {"--preempt-exit-code", std::to_string(stopped_code)});
  }
  if (!given.flag("resume")) command.emplace_back("--resume");
  return command;
}

}  // namespace

OptionTable launch_table() {
  std::vector<Option> options = capacity_options();
  for (auto& option : failure_options()) options.push_back(std::move(option));
  return {{.command = "launch",
           .summary = "keep a training running: through failures, and as devices come and go.",
           .example = "rubato launch --ranks 1:4 --capacity-file devices -- \\\n"
                      "    --data fashion-mnist --model mnist --trace trace.csv --out runs/first",
           .notes = launch_notes(),
           .rest = "-- TRAIN OPTIONS",
           .alternatives = {{"capacity-file", "capacity-trace"}}},
          std::move(options)};
}

LaunchWords split_launch_words(const std::vector<std::string>& words) {
  const auto bar = std::find(words.begin(), words.end(), "--");
  if (bar == words.end()) {
    throw UsageError(
        "launch: the options of the training are missing: rubato launch [options] --"
        " TRAIN OPTIONS");
  }
  LaunchWords split{.own = {words.begin(), bar}, .train = {std::next(bar), words.end()}};
  const Options train = train_table().parse(split.train);
  if (train.wants_help()) throw UsageError("launch: see `rubato train --help`");
  if (!train.is_given("out")) {
    throw UsageError(
        "launch: give --out DIR among the options of the training, for without its"
        " checkpoints it could not go on");
  }
  if (train.flag("overwrite")) {
    throw UsageError("launch: --overwrite would begin anew at every restart; remove " +
                     train.text("out") + ", or give another --out");
  }
  split.directory = train.text("out");
  return split;
}

LaunchPlan launch_plan(const Options& options, const LaunchWords& words,
                       const std::string& program) {
  const auto ranks = options.text_if("ranks");
  const Options training = training_options(words);
  const int code = static_cast<int>(training.integer("preempt-exit-code"));
  LaunchPlan plan{
      .directory = words.directory,
      .launcher = launcher_words(options),
      .command = train_command(words, program, code),
      .limits = ranks ? parse_rank_limits(*ranks) : RankLimits{.least = 1, .most = cores_here()},
      .settle_time = std::chrono::duration<double>(options.number("settle")),
      .stop_grace = std::chrono::duration<double>(options.number("stop-grace")),
      .most_failures = options.integer("max-restarts"),
      .backoff_seconds = options.number("backoff"),
      .stopped_code = code};
  require_room_for(plan.limits.most, "--ranks", plan.launcher);
  if (const auto limits = batch_limits(training)) use_ranks_within(*limits, training, plan);
  return plan;
}

std::unique_ptr<CapacitySource> capacity_source(const Options& options, const RankLimits& limits) {
  const auto trace = options.text_if("capacity-trace");
  if (!trace && (options.is_given("time-scale") || options.is_given("column"))) {
    throw UsageError("--time-scale and --column need --capacity-trace");
  }
  if (const auto file = options.text_if("capacity-file")) return capacity_file(*file, limits.most);
  if (!trace) return fixed_capacity(limits.most);
  return replayed_capacity(
      CapacityHistory::from_csv(*trace, options.text_if("column").value_or("")),
      options.number("time-scale"));
}

}  // namespace rubato::app
