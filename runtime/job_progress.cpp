// See job_progress.hpp.
#include "runtime/job_progress.hpp"

#include <algorithm>
#include <stdexcept>

namespace rubato::runtime {

namespace {

std::uint64_t marks = 0;

}  // namespace

void JobProgress::begin_epoch() {
  if (is_in_loop_) {
    throw std::logic_error(
        "remaining_epochs_until: a loop over a loader is under way; put the loop over epochs "
        "around it");
  }
  if (epoch_) {
    throw std::logic_error("remaining_epochs_until: epoch " + std::to_string(*epoch_) +
                           " is under way; loops over epochs may follow each other, not nest");
  }
  epoch_ = done_.epochs;
  ++marks;
}

void JobProgress::end_epoch() noexcept {
  epoch_.reset();
  ++done_.epochs;
  done_.loops_in_epoch = 0;
  passed_in_epoch_ = 0;
  ++marks;
}

bool JobProgress::enter_loop() {
  if (is_in_loop_) {
    throw std::logic_error(
        "AdaptiveDataLoader: a loop over a loader is under way; such loops may follow each other, "
        "not nest");
  }
  is_in_loop_ = true;
  return epoch_ ? passed_in_epoch_ < done_.loops_in_epoch : passed_outside_ < done_.loops_outside;
}

void JobProgress::leave_loop() noexcept {
  is_in_loop_ = false;
  std::uint64_t& passed = epoch_ ? passed_in_epoch_ : passed_outside_;
  std::uint64_t& done = epoch_ ? done_.loops_in_epoch : done_.loops_outside;
  done = std::max(done, ++passed);
}

Level JobProgress::level() const noexcept {
  if (is_in_loop_) return Level::loop;
  return epoch_ ? Level::epoch : Level::program;
}

std::uint64_t epoch_mark() noexcept { return marks; }

}  // namespace rubato::runtime
