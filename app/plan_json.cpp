// See plan_report.hpp. Nothing but numbers and fixed names, so no JSON library is needed, and
// nothing is held.
#include <algorithm>
#include <array>

#include "app/plan_report.hpp"

namespace rubato::app {
namespace {

void write_list(std::ostream& out, std::span<const std::uint64_t> numbers) {
  const char* separator = "";
  out << '[';
  for (const auto number : numbers) {
    out << separator << number;
    separator = ",";
  }
  out << ']';
}

}  // namespace

PlanJson::PlanJson(std::ostream& out, const PlanFacts& facts, MakeOrder make_order)
    : out_(out), facts_(facts), make_order_(std::move(make_order)) {
  out_ << "{\"samples\":" << facts_.samples << ",\"minibatch\":" << facts_.minibatch
       << ",\"ranks\":" << facts_.ranks
       << ",\"minibatches_per_epoch\":" << facts_.minibatches_per_epoch << ",\"epochs\":[";
}

void PlanJson::begin_epoch(std::uint64_t epoch, std::uint64_t trace_begin) {
  out_ << (is_first_epoch_ ? "\n" : ",\n") << "{\"epoch\":" << epoch
       << ",\"trace_begin\":" << trace_begin << ",\"steps\":[";
  is_first_epoch_ = false;
  is_first_step_ = true;
}

void PlanJson::visit(const PlanStep& step) {
  std::vector<std::uint64_t> sizes;
  for (const auto& minibatch : step.minibatches) sizes.push_back(minibatch.size);
  out_ << (is_first_step_ ? "\n" : ",\n") << "  {\"step\":" << step.step
       << ",\"batch_size\":" << step.batch_size;
  if (facts_.rows_have_minibatches) out_ << ",\"minibatch\":" << step.minibatch;
  out_ << ",\"begin\":" << step.minibatches.front().begin << ",\"sizes\":";
  write_list(out_, sizes);
  out_ << ",\"ranks\":";
  const char* separator = "[";
  for (const auto& minibatches : step.ranks) {
    out_ << separator;
    write_list(out_, minibatches);
    separator = ",";
  }
  out_ << ']';
  if (step.is_carried_from) out_ << ",\"carried_from\":true";
  if (step.carries_on) out_ << ",\"carries_on\":true";
  out_ << '}';
  is_first_step_ = false;
}

void PlanJson::end_epoch(const EpochTotals& totals) {
  out_ << "],\n \"trace_end\":" << totals.trace_begin + totals.steps
       << ",\"minibatches_used\":" << totals.minibatches_used
       << ",\"minibatches_left_over\":" << totals.minibatches_left_over
       << ",\"samples_left_over\":" << totals.samples_left_over;
  if (make_order_) write_order(totals.epoch);
  out_ << '}';
}

void PlanJson::write_order(std::uint64_t epoch) {
  const auto order = make_order_(epoch);
  std::array<std::uint64_t, 4096> block{};
  out_ << ",\n \"order\":[";
  for (std::uint64_t begin = 0; begin < facts_.epoch_samples; begin += block.size()) {
    const auto size = std::min<std::uint64_t>(block.size(), facts_.epoch_samples - begin);
    const auto part = std::span(block).first(size);
    order.read(begin, part);
    for (std::size_t i = 0; i < part.size(); ++i) out_ << (begin + i > 0 ? "," : "") << part[i];
  }
  out_ << ']';
}

void PlanJson::finish() { out_ << "]}\n"; }

}  // namespace rubato::app
