// See job_epochs.hpp. A range-based for loop that is left early destroys its iterator: that ends
// the epoch, without a word to other ranks.
#include "runtime/job_epochs.hpp"

#include "runtime/job.hpp"

namespace rubato::runtime {

RemainingEpochs::Iterator::Iterator(Job& job, std::uint64_t until) : job_(job), until_(until) {
  begin_next();
}

RemainingEpochs::Iterator::~Iterator() {
  if (is_in_epoch_) job_.end_epoch();
}

std::uint64_t RemainingEpochs::Iterator::operator*() const { return *job_.epoch(); }

RemainingEpochs::Iterator& RemainingEpochs::Iterator::operator++() {
  is_in_epoch_ = false;
  job_.end_epoch();
  begin_next();
  if (!is_in_epoch_) job_.finish_epochs();
  return *this;
}

void RemainingEpochs::Iterator::begin_next() {
  if (job_.progress().done().epochs >= until_ && !job_.epoch()) return;
  job_.progress().begin_epoch();
  is_in_epoch_ = true;
}

RemainingEpochs remaining_epochs_until(std::uint64_t epochs) {
  return {Job::current("remaining_epochs_until"), epochs};
}

}  // namespace rubato::runtime
