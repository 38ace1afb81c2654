// rubato plan: who would run what, without running it.
#include <iostream>
#include <string>

#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/options.hpp"
#include "app/plan_options.hpp"
#include "app/plan_report.hpp"

namespace rubato::app {
namespace {

constexpr std::uint64_t most_planned_ranks = 1U << 20U;
constexpr std::uint64_t most_samples = std::uint64_t{1} << 40U;

OptionTable plan_table() {
  auto options = size_options();
  options.push_back({.name = "ranks",
                     .kind = OptionKind::integer,
                     .value_name = "N",
                     .group = "Ranks",
                     .description = "how many carry the run (required)"});
  for (const auto& option : plan_options()) options.push_back(option);
  for (const auto& option : order_options(/*measures_ranks=*/false)) options.push_back(option);
  options.push_back({.name = "format",
                     .kind = OptionKind::choice,
                     .default_value = "text",
                     .group = "Output",
                     .description = "a table, or one JSON document",
                     .choices = {"text", "json"}});
  options.push_back({.name = "indices",
                     .kind = OptionKind::flag,
                     .group = "Output",
                     .description = "with each epoch the order of its samples (JSON only)"});
  auto alternatives = plan_alternatives();
  alternatives.push_back({"samples", "data"});
  OptionTable::About about{
      .command = "plan",
      .summary = "show which minibatches every rank would run, without running.",
      .example = "rubato plan --samples 60000 --ranks 4 --trace trace.csv --epochs 2"};
  about.alternatives = std::move(alternatives);
  return {about, options};
}

std::size_t ranks_of(const Options& options) {
  const auto ranks = options.integer_if("ranks");
  if (!ranks) throw UsageError("number of ranks unknown: give --ranks N");
  if (*ranks <= most_planned_ranks) return *ranks;
  throw UsageError("--ranks " + std::to_string(*ranks) + ": expected at most " +
                   std::to_string(most_planned_ranks));
}

data::TracePlan finite_plan(const Options& options, std::uint64_t samples) {
  auto trace = read_trace(options);
  for (const auto& warning : trace.warnings()) std::cerr << "rubato: warning: " << warning << '\n';
  auto plan = make_plan(std::move(trace), options, samples);
  require_end(plan);
  return plan;
}

PlanJson::MakeOrder order_of(const Options& options, std::uint64_t samples) {
  if (!options.flag("indices")) return {};
  const auto kind = data::order_kind(options.text("order"));
  const auto seed = options.integer("seed");
  data::EpochOrder(kind, samples, seed, 0);  // says what is wrong before anything is printed
  return [=](std::uint64_t epoch) { return data::EpochOrder(kind, samples, seed, epoch); };
}

}  // namespace

int plan(int argc, char** argv) {
  const auto table = plan_table();
  const auto options = table.parse(argc, argv);
  if (options.wants_help()) {
    std::cout << table.help();
    return exit_done;
  }
  const bool is_json = options.text("format") == "json";
  if (options.flag("indices") && !is_json) throw UsageError("--indices needs --format json");
  const auto ranks = ranks_of(options);
  const auto samples = training_samples(options);
  if (samples > most_samples) {
    throw UsageError("--samples " + std::to_string(samples) + ": expected at most " +
                     std::to_string(most_samples));
  }
  const auto plan = finite_plan(options, samples);
  const auto assignment = data::assignment(options.text("assignment"));
  const PlanFacts facts{.samples = samples,
                        .minibatch = plan.options().minibatch,
                        .minibatches_per_epoch = plan.minibatches_per_epoch(),
                        .rows_have_minibatches = plan.trace().has_minibatches(),
                        .epoch_samples = plan.epoch_samples(),
                        .ranks = ranks};
  const auto report = [&](auto printer) {
    walk(plan, assignment, ranks, printer);
    printer.finish();
  };
  if (is_json) {
    report(PlanJson(std::cout, facts, order_of(options, samples)));
  } else {
    report(PlanTable(std::cout, facts));
  }
  return exit_done;
}

}  // namespace rubato::app
