// rubato trace: show, check or make a batch-size trace.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "app/capacity_history.hpp"
#include "app/capacity_trace.hpp"
#include "app/command_action.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/plan_options.hpp"
#include "app/plan_walk.hpp"
#include "app/trace_chart.hpp"
#include "app/trace_make.hpp"
#include "app/trace_options.hpp"
#include "runtime/committed_file.hpp"
#include "runtime/errors.hpp"
#include "runtime/temporary_file.hpp"

namespace rubato::app {
namespace {

data::BatchTrace read(const Options& options) {
  auto trace = data::BatchTrace::from_csv(options.positionals()[0]);
  for (const auto& warning : trace.warnings()) std::cerr << "rubato: warning: " << warning << '\n';
  return trace;
}

// -- show

struct TraceFacts {
  std::uint64_t samples = 0;
  std::uint64_t smallest = 0;
  std::uint64_t largest = 0;
  double mean = 0;
};

TraceFacts facts_of(const data::BatchTrace& trace) {
  TraceFacts facts{.smallest = trace.batch_size(0), .largest = trace.largest()};
  for (std::uint64_t row = 0; row < trace.rows(); ++row) {
    facts.samples += trace.batch_size(row);
    facts.smallest = std::min(facts.smallest, trace.batch_size(row));
  }
  facts.mean = static_cast<double>(facts.samples) / static_cast<double>(trace.rows());
  return facts;
}

void show_json(const data::BatchTrace& trace, const TraceFacts& facts) {
  nlohmann::ordered_json document{{"file", trace.name()}, {"rows", trace.rows()}};
  if (!trace.is_sparse()) document["samples"] = facts.samples;
  document["smallest"] = facts.smallest;
  document["largest"] = facts.largest;
  if (!trace.is_sparse()) document["mean"] = facts.mean;
  document["batch_sizes"] = nlohmann::json::array();
  for (std::uint64_t i = 0; i < trace.rows(); ++i) {
    const data::TraceRow row = trace.row(i);
    document["batch_sizes"].push_back(row.batch_size);
    if (trace.is_sparse()) document["updates"].push_back(row.update);
    if (trace.has_minibatches()) document["minibatches"].push_back(row.minibatch);
    if (row.epoch) document["epochs"].push_back(*row.epoch);
  }
  std::cout << document.dump() << '\n';
}

int show_rows(const Options& options) {
  const auto trace = read(options);
  const auto facts = facts_of(trace);
  if (options.text("format") == "json") {
    show_json(trace, facts);
    return exit_done;
  }
  std::cout << trace.name() << ": " << trace.rows() << (trace.rows() == 1 ? " row" : " rows");
  if (trace.is_sparse()) {
    const std::string last = std::to_string(trace.row(trace.rows() - 1).update);
    std::cout << (trace.rows() == 1 ? ", which holds from update " + last + " on"
                                    : ", each of which holds until the next one's update; the last"
                                      " one begins at update " +
                                          last);
  } else {
    std::cout << ", " << facts.samples << " samples in all";
  }
  std::cout << "\nbatch size: smallest " << facts.smallest << ", largest " << facts.largest;
  if (!trace.is_sparse()) {
    std::cout << ", mean " << std::fixed << std::setprecision(1) << facts.mean;
  }
  std::cout << "\n\n" << draw(trace);
  return exit_done;
}

// -- check

class EpochLines final : public PlanVisitor {
 public:
  EpochLines() {
    std::cout << std::setw(8) << "epoch" << std::setw(18) << "updates" << std::setw(10) << "number"
              << std::setw(12) << "samples" << std::setw(12) << "left over\n";
  }
  void begin_epoch(std::uint64_t, std::uint64_t) override {}
  void visit(const PlanStep&) override {}
  void end_epoch(const EpochTotals& totals) override {
    const std::uint64_t last = totals.trace_begin + totals.steps - 1;
    std::cout << std::setw(8) << totals.epoch << std::setw(18)
              << std::to_string(totals.trace_begin) + "-" + std::to_string(last) << std::setw(10)
              << totals.steps << std::setw(12) << totals.samples_used << std::setw(11)
              << totals.samples_left_over
              << (totals.is_complete ? "\n" : "  (the run ends within this epoch)\n");
  }
};

class EpochList final : public PlanVisitor {
 public:
  void begin_epoch(std::uint64_t, std::uint64_t) override {}
  void visit(const PlanStep&) override {}
  void end_epoch(const EpochTotals& totals) override {
    epochs_.push_back({{"epoch", totals.epoch},
                       {"trace_begin", totals.trace_begin},
                       {"trace_end", totals.trace_begin + totals.steps},
                       {"samples_used", totals.samples_used},
                       {"samples_left_over", totals.samples_left_over},
                       {"complete", totals.is_complete}});
  }
  const nlohmann::ordered_json& epochs() const { return epochs_; }

 private:
  nlohmann::ordered_json epochs_ = nlohmann::ordered_json::array();
};

int check(const Options& options) {
  const auto samples = training_samples(options);
  const auto plan = make_plan(read(options), options, samples);
  require_end(plan);
  const auto tell = [&](PlanVisitor& visitor) {
    walk(plan, data::Assignment::blocked, 1, visitor);
  };
  if (options.text("format") == "json") {
    EpochList list;
    tell(list);
    const nlohmann::ordered_json document{{"ok", true},
                                          {"file", plan.trace().name()},
                                          {"samples", samples},
                                          {"updates", *plan.total_updates()},
                                          {"epochs", list.epochs()}};
    std::cout << document.dump(1) << '\n';
    return exit_done;
  }
  EpochLines lines;
  tell(lines);
  std::cout << "ok: " << plan.trace().name() << " serves " << *plan.total_updates()
            << " updates on " << samples << " samples\n";
  return exit_done;
}

// -- make, from-capacity

void write(const std::filesystem::path& file, const std::string& text, bool overwrites) {
  if (!overwrites && std::filesystem::exists(file)) {
    throw runtime::OutputError(file.string() + " exists; --overwrite replaces it");
  }
  const auto directory = runtime::directory_of(file);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw runtime::OutputError(file.string() + ": the directory " + directory.string() +
                               " does not exist or may not be written to");
  }
  runtime::commit_file(file, std::as_bytes(std::span(text)));
}

// To --out, or to standard output.
int deliver(const Options& options, const std::string& text) {
  if (const auto file = options.text_if("out")) {
    write(*file, text, options.flag("overwrite"));
  } else {
    std::cout << text;
  }
  return exit_done;
}

int make(const Options& options) { return deliver(options, make_trace(options)); }

int from_capacity(const Options& options) {
  const auto samples = options.integer_if("samples-per-device");
  if (!samples) throw UsageError("trace from-capacity: give --samples-per-device N");
  const auto history =
      CapacityHistory::from_csv(options.positionals()[0], options.text_if("column").value_or(""));
  const auto trace =
      trace_from_capacity(history, {.samples_per_device = *samples,
                                    .updates_per_row = options.integer("updates-per-row"),
                                    .least_devices = options.integer("least-devices")});
  const int exit_code = deliver(options, trace.text);
  std::cerr << "rubato: " << history.rows().size() << " rows make " << trace.updates << " updates; "
            << trace.skipped_rows << " rows with too few devices are left out\n";
  return exit_code;
}

}  // namespace

int trace(int argc, char** argv) {
  return run_action("trace",
                    "rubato trace: batch-size traces\n\n"
                    "Usage: rubato trace show FILE    what is in it\n"
                    "       rubato trace check FILE   whether a run can follow it\n"
                    "       rubato trace make SHAPE   write one\n"
                    "       rubato trace from-capacity FILE   write one from a history of devices\n"
                    "Each has its own --help.\n",
                    {{"show", trace_show_table, show_rows},
                     {"check", trace_check_table, check},
                     {"make", trace_make_table, make},
                     {"from-capacity", trace_from_capacity_table, from_capacity}},
                    argc, argv);
}

}  // namespace rubato::app
