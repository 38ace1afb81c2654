// A plan for people (a table per epoch) and for programs (one JSON document), both written as the
// plan is walked.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "app/plan_walk.hpp"
#include "data/epoch_order.hpp"

namespace rubato::app {

// What the plan was made from.
struct PlanFacts {
  std::uint64_t samples = 0;
  std::uint64_t minibatch = 0;  // where the trace's rows have none of their own
  std::uint64_t minibatches_per_epoch = 0;
  bool rows_have_minibatches = false;
  std::uint64_t epoch_samples = 0;
  std::size_t ranks = 0;
};

// {"samples", "minibatch", "ranks", "minibatches_per_epoch", "epochs": [{"epoch", "trace_begin",
// "steps": [...], "trace_end", ...}]}, one line a step, with its "minibatch" where the trace's rows
// have some. The totals of an epoch come after its steps, because they are known only then.
class PlanJson final : public PlanVisitor {
 public:
  // The order of an epoch, for "order"; empty: without it.
  using MakeOrder = std::function<data::EpochOrder(std::uint64_t epoch)>;

  PlanJson(std::ostream& out, const PlanFacts& facts, MakeOrder make_order);
  void begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) override;
  void visit(const PlanStep& step) override;
  void end_epoch(const EpochTotals& totals) override;
  void finish();

 private:
  void write_order(std::uint64_t epoch);

  std::ostream& out_;
  PlanFacts facts_;
  MakeOrder make_order_;
  bool is_first_epoch_ = true;
  bool is_first_step_ = true;
};

// Equal steps in a row share a line. Below each epoch: what it used, the load of each rank, and how
// well they are balanced.
class PlanTable final : public PlanVisitor {
 public:
  PlanTable(std::ostream& out, const PlanFacts& facts);
  void begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) override;
  void visit(const PlanStep& step) override;
  void end_epoch(const EpochTotals& totals) override;
  void finish();

 private:
  struct Line {  // one or more equal steps
    std::uint64_t batch_size = 0;
    std::uint64_t minibatch = 0;
    std::size_t minibatches = 0;
    std::uint64_t last_size = 0;  // of the last minibatch, which may be short
    std::vector<std::uint64_t> counts;
    bool is_carried_from = false;
    bool carries_on = false;
    bool operator==(const Line&) const = default;
  };
  void print_line();

  std::ostream& out_;
  PlanFacts facts_;
  Line line_;
  std::uint64_t line_begin_ = 0;  // first step of line_
  std::uint64_t line_steps_ = 0;
  std::vector<std::uint64_t> loads_;  // substeps of each rank in this epoch
  std::uint64_t critical_substeps_ =
      0;  // sum over the epoch's steps of the busiest rank's substeps
  std::uint64_t all_updates_ = 0;
  std::uint64_t all_samples_ = 0;
};

}  // namespace rubato::app
