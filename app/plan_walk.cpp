// See plan_walk.hpp. An update is assigned to ranks as a whole and then cut where its minibatches
// change epoch.
#include "app/plan_walk.hpp"

#include <optional>

namespace rubato::app {
namespace {

class Walk {
 public:
  Walk(const data::TracePlan& plan, data::Assignment assignment, std::size_t ranks,
       PlanVisitor& visitor)
      : plan_(plan), assignment_(assignment), ranks_(ranks), visitor_(visitor) {}

  void run() {
    data::Cursor cursor;
    while (const auto update = plan_.next(cursor)) {
      take(*update);
      cursor = update->end;
    }
    if (totals_) finish_epoch(false);
  }

 private:
  bool is_drop() const { return plan_.options().epoch_end == data::EpochEnd::drop; }

  void take(const data::PlannedUpdate& update) {
    const std::span all(update.minibatches);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      offsets_[rank] = data::substeps_of(assignment_, rank, ranks_, all.size());
    }
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin + 1;
      while (end < all.size() && all[end].epoch == all[begin].epoch) ++end;
      enter_epoch(all[begin].epoch, update.begin.row);
      visit_part(update, begin, end);
      begin = end;
    }
    smallest_step_ = is_drop() ? update.batch_size : 1;
    minibatch_ = update.minibatch;
  }

  void enter_epoch(std::uint64_t epoch, std::uint64_t row) {
    if (totals_ && totals_->epoch == epoch) return;
    if (totals_) finish_epoch(true);
    totals_ = EpochTotals{.epoch = epoch, .trace_begin = row};
    visitor_.begin_epoch(epoch, row);
  }

  void visit_part(const data::PlannedUpdate& update, std::size_t begin, std::size_t end) {
    const auto part = std::span(update.minibatches).subspan(begin, end - begin);
    PlanStep step{.step = totals_->steps,
                  .batch_size = update.batch_size,
                  .minibatch = update.minibatch,
                  .minibatches = part,
                  .ranks = std::vector<std::vector<std::uint64_t>>(ranks_),
                  .is_carried_from = begin > 0,
                  .carries_on = end < update.minibatches.size()};
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      for (const std::size_t offset : offsets_[rank]) {
        const bool is_here = offset >= begin && offset < end;
        if (is_here) step.ranks[rank].push_back(update.minibatches[offset].index);
      }
    }
    visitor_.visit(step);
    ++totals_->steps;
    totals_->minibatches_used += part.size();
    for (const auto& minibatch : part) totals_->samples_used += minibatch.size;
  }

  void finish_epoch(bool has_next) {
    const auto room = plan_.epoch_samples() - totals_->samples_used;
    totals_->minibatches_left_over = room / minibatch_;
    totals_->samples_left_over = plan_.options().samples - totals_->samples_used;
    totals_->is_complete = has_next || room < smallest_step_;
    visitor_.end_epoch(*totals_);
  }

  const data::TracePlan& plan_;
  data::Assignment assignment_;
  std::size_t ranks_;
  PlanVisitor& visitor_;
  std::vector<std::vector<std::size_t>> offsets_ = std::vector<std::vector<std::size_t>>(ranks_);
  std::optional<EpochTotals> totals_;
  // The run's last epoch is complete if not even a step like its last one would fit in any more.
  std::uint64_t smallest_step_ = 1;
  std::uint64_t minibatch_ = 1;  // of the last update
};

}  // namespace

void walk(const data::TracePlan& plan, data::Assignment assignment, std::size_t ranks,
          PlanVisitor& visitor) {
  Walk(plan, assignment, ranks, visitor).run();
}

}  // namespace rubato::app
