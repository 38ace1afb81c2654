// A range-based for loop that is left early destroys its iterator, which is the loop.
#include "runtime/loader_loop.hpp"

#include <utility>

#include "runtime/adaptive_data_loader.hpp"
#include "runtime/job.hpp"

namespace rubato::runtime {

Batch::Iterator::Iterator(MinibatchQueue& queue) : queue_(queue), minibatch_(queue.next()) {}

Batch::Iterator& Batch::Iterator::operator++() {
  minibatch_ = queue_.next();
  return *this;
}

Batch::Batch(AdaptiveDataLoader& loader, data::PlannedUpdate update)
    : loader_(&loader), update_(std::move(update)) {}

Batch::Iterator Batch::begin() {
  MinibatchQueue& queue = loader_->queue();
  queue.begin(update_, loader_->upcoming(update_));
  return Iterator(queue);
}

LoaderLoop::Place::Place()
    : was_done_(Job::current("AdaptiveDataLoader").progress().enter_loop()) {}

void LoaderLoop::Place::leave() noexcept {
  if (std::exchange(is_in_, false)) Job::current("AdaptiveDataLoader").progress().leave_loop();
}

LoaderLoop::LoaderLoop(AdaptiveDataLoader& loader) : loader_(loader) {
  if (!place_.was_done()) {
    if (auto update = loader_.first()) batch_.emplace(loader_, *std::move(update));
  }
  if (!batch_) place_.leave();
}

LoaderLoop::~LoaderLoop() {
  if (!batch_) return;
  if (!batch_->wishes()) loader_.pass_by(batch_->update());
  loader_.leave_early();
}

// What is done is noted before ranks are asked what they wish: a checkpoint may follow.
LoaderLoop& LoaderLoop::operator++() {
  const std::optional<std::uint64_t> wishes = batch_->wishes();
  if (!wishes) loader_.pass_by(batch_->update());
  loader_.decide_after(batch_->update());
  const bool is_over = loader_.is_over_after(batch_->update());
  batch_.reset();
  if (is_over) place_.leave();
  Job& job = Job::current("AdaptiveDataLoader");
  if (wishes || is_over) {
    job.at_boundary(wishes);
  } else {
    job.at_boundary(0);  // what the program has asked for; signals are heard at the loop's end
  }
  if (is_over) return *this;
  if (auto update = loader_.next()) batch_.emplace(loader_, *std::move(update));
  return *this;
}

}  // namespace rubato::runtime
