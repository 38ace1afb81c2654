// See accumulator_state.hpp.
#include "runtime/accumulator_state.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rubato::runtime {

namespace {

constexpr std::array levels{Level::loop, Level::epoch, Level::program};

}  // namespace

NamedSums AccumulatorState::synchronize(const collectives::Communicator& communicator,
                                        Level level) {
  const bool is_outside = level == Level::program;
  std::vector<NamedSums>& shown = is_outside ? record_.shown_outside : record_.shown_in_epoch;
  std::size_t& shows = is_outside ? shows_outside_ : shows_in_epoch_;
  shows_again_ = level != Level::loop && shows < shown.size();
  if (shows_again_) {
    for (std::size_t i = 0; i <= index(level); ++i) pending_[i].clear();
    return shown[shows++];
  }
  std::array<NamedSums*, 3> all{};
  for (const Level each : levels) all[index(each)] = &pending(each);
  sum_over_ranks(communicator, all);
  for (const Level each : levels) add(std::exchange(pending(each), {}), summed(each));
  settle(level);
  NamedSums total = record_.sums;
  add(above(level), total);
  if (level != Level::loop) {
    shown.push_back(total);
    ++shows;
  }
  return total;
}

void AccumulatorState::replace(const NamedSums& sums, Level level) {
  if (shows_again_) return;
  record_.sums.clear();
  const NamedSums rest = above(level);
  for (const auto& [name, sum] : sums) {
    ExactSum& mine = record_.sums[name];
    mine = sum;
    if (const auto other = rest.find(name); other != rest.end()) mine -= other->second;
  }
  for (NamedSums& layer : summed_) {
    std::erase_if(layer, [&](const auto& entry) { return !sums.contains(entry.first); });
  }
}

void AccumulatorState::settle(Level level) {
  for (std::size_t i = 0; i <= index(level); ++i) {
    add(std::exchange(pending_[i], {}), record_.sums);
    add(std::exchange(summed_[i], {}), record_.sums);
  }
}

NamedSums AccumulatorState::above(Level level) const {
  NamedSums sums;
  for (std::size_t i = index(level) + 1; i < summed_.size(); ++i) add(summed_[i], sums);
  return sums;
}

void AccumulatorState::end_epoch() {
  add(std::exchange(pending(Level::epoch), {}), pending(Level::loop));
  add(std::exchange(summed(Level::epoch), {}), record_.sums);
  record_.shown_in_epoch.clear();
  shows_in_epoch_ = 0;
}

std::shared_ptr<AccumulatorState> AccumulatorStates::make(const JobProgress& progress) {
  if (progress.is_in_loop()) {
    throw std::logic_error(
        "Accumulator: a loop over a loader is under way; make accumulators before it");
  }
  AccumulatorRecord record;
  record.epoch = progress.epoch();
  record.number = record.epoch ? made_in_epoch_++ : made_outside_++;
  const auto known = std::ranges::find_if(records_, [&](const AccumulatorRecord& one) {
    return one.epoch == record.epoch && one.number == record.number;
  });
  if (known != records_.end()) {
    record = std::move(*known);
    records_.erase(known);
  }
  states_.push_back(std::make_shared<AccumulatorState>(std::move(record)));
  return states_.back();
}

void AccumulatorStates::end_epoch() {
  std::erase_if(records_, [](const AccumulatorRecord& one) { return one.epoch.has_value(); });
  std::erase_if(states_, [](const auto& one) { return one->record().epoch.has_value(); });
  for (const auto& one : states_) one->end_epoch();
  for (AccumulatorRecord& one : records_) one.shown_in_epoch.clear();
  made_in_epoch_ = 0;
}

void AccumulatorStates::settle(const collectives::Communicator& communicator, Level level) {
  std::vector<NamedSums*> pending;
  for (const auto& one : states_) {
    for (const Level each : levels) {
      if (each <= level) pending.push_back(&one->pending(each));
    }
  }
  if (!pending.empty()) sum_over_ranks(communicator, pending);
  for (const auto& one : states_) one->settle(level);
}

std::vector<AccumulatorRecord> AccumulatorStates::records() const {
  std::vector<AccumulatorRecord> records = records_;
  for (const auto& one : states_) records.push_back(one->record());
  return records;
}

}  // namespace rubato::runtime
