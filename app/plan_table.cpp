// See plan_report.hpp.
#include <algorithm>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <string>

#include "app/number_text.hpp"
#include "app/plan_report.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t listed_ranks = 12;  // more are summarised

// "2 2 1 0", or for many ranks "2 (ranks 0-19), 1 (ranks 20-63)".
std::string describe(const std::vector<std::uint64_t>& counts) {
  std::ostringstream text;
  if (counts.size() <= listed_ranks) {
    for (std::size_t i = 0; i < counts.size(); ++i) text << (i > 0 ? " " : "") << counts[i];
    return text.str();
  }
  for (std::size_t begin = 0; begin < counts.size();) {
    std::size_t end = begin + 1;
    while (end < counts.size() && counts[end] == counts[begin]) ++end;
    text << (begin > 0 ? ", " : "") << counts[begin] << " (rank" << (end > begin + 1 ? "s " : " ")
         << begin;
    if (end > begin + 1) text << '-' << end - 1;
    text << ')';
    begin = end;
  }
  return text.str();
}

std::vector<std::uint64_t> counts_of(const PlanStep& step) {
  std::vector<std::uint64_t> counts;
  for (const auto& minibatches : step.ranks) counts.push_back(minibatches.size());
  return counts;
}

std::string range(std::uint64_t begin, std::uint64_t count) {
  const std::string first = std::to_string(begin);
  return count > 1 ? first + "-" + std::to_string(begin + count - 1) : first;
}

}  // namespace

PlanTable::PlanTable(std::ostream& out, const PlanFacts& facts)
    : out_(out), facts_(facts), loads_(facts.ranks) {
  out_ << counted(facts_.samples, "sample") << ", minibatches ";
  if (facts_.rows_have_minibatches) {
    out_ << "as the trace says, ";
  } else {
    out_ << "of " << facts_.minibatch << " (" << facts_.minibatches_per_epoch
         << " whole ones per epoch), ";
  }
  out_ << counted(facts_.ranks, "rank") << '\n';
}

void PlanTable::begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) {
  out_ << "\nepoch " << epoch << ", from update " << trace_begin << "\n"
       << std::setw(12) << "step" << std::setw(12) << "batch size" << std::setw(14) << "minibatches"
       << "  substeps of each rank\n";
  line_steps_ = 0;
  critical_substeps_ = 0;
  std::fill(loads_.begin(), loads_.end(), 0);
}

void PlanTable::visit(const PlanStep& step) {
  Line line{.batch_size = step.batch_size,
            .minibatch = step.minibatch,
            .minibatches = step.minibatches.size(),
            .last_size = step.minibatches.back().size,
            .counts = counts_of(step),
            .is_carried_from = step.is_carried_from,
            .carries_on = step.carries_on};
  for (std::size_t rank = 0; rank < loads_.size(); ++rank) loads_[rank] += line.counts[rank];
  if (!step.is_carried_from) ++all_updates_;
  for (const auto& minibatch : step.minibatches) all_samples_ += minibatch.size;
  critical_substeps_ += *std::max_element(line.counts.begin(), line.counts.end());
  if (line_steps_ > 0 && line == line_) {
    ++line_steps_;
    return;
  }
  print_line();
  line_ = std::move(line);
  line_begin_ = step.step;
  line_steps_ = 1;
}

void PlanTable::print_line() {
  if (line_steps_ == 0) return;
  out_ << std::setw(12) << range(line_begin_, line_steps_) << std::setw(12) << line_.batch_size
       << std::setw(14) << line_.minibatches << "  " << describe(line_.counts);
  if (facts_.rows_have_minibatches) out_ << "  (of " << line_.minibatch << " samples)";
  if (line_.last_size < line_.minibatch) out_ << "  (last one: " << line_.last_size << " samples)";
  if (line_.is_carried_from) out_ << "  (begun in an earlier epoch)";
  if (line_.carries_on) out_ << "  (goes on in the next epoch)";
  out_ << '\n';
}

void PlanTable::end_epoch(const EpochTotals& totals) {
  print_line();
  const double fair_share =
      static_cast<double>(totals.minibatches_used) / static_cast<double>(facts_.ranks);
  const double efficiency = 100 * fair_share / static_cast<double>(critical_substeps_);
  out_ << "  " << counted(totals.steps, "update") << ", "
       << counted(totals.minibatches_used, "minibatch") << ", "
       << counted(totals.samples_used, "sample")
       << "; left over: " << counted(totals.minibatches_left_over, "minibatch") << ", "
       << counted(totals.samples_left_over, "sample")
       << (totals.is_complete ? "\n" : " (the run ends within this epoch)\n")
       << "  load: " << describe(loads_)
       << " substeps of each rank; the busiest of each update: " << critical_substeps_
       << " in all, " << std::fixed << std::setprecision(1) << fair_share
       << " if shared out evenly (" << std::setprecision(0) << efficiency << " %)\n";
}

void PlanTable::finish() {
  out_ << "\nin all " << counted(all_updates_, "update") << ", " << counted(all_samples_, "sample")
       << '\n';
}

}  // namespace rubato::app
