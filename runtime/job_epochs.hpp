// The loop over epochs of a job:
//
//   for (auto epoch : runtime::remaining_epochs_until(30)) { ... }
//
// gives out the epochs, counted from 0, that the job has not finished: in one that goes on, first
// the one that was under way. Loops may follow each other (until 30, then until 60) and go on
// counting; they may not nest (std::logic_error). An epoch is finished when its body ends, also by
// break or an exception. When none is left, a checkpoint is written.
#pragma once

#include <cstdint>
#include <iterator>

namespace rubato::runtime {

class Job;

class RemainingEpochs {
 public:
  class Iterator {
   public:
    Iterator(Job& job, std::uint64_t until);
    Iterator(const Iterator&) = delete;
    Iterator& operator=(const Iterator&) = delete;
    ~Iterator();
    std::uint64_t operator*() const;
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const noexcept { return !is_in_epoch_; }

   private:
    void begin_next();

    Job& job_;
    std::uint64_t until_;
    bool is_in_epoch_ = false;
  };

  RemainingEpochs(Job& job, std::uint64_t until) : job_(job), until_(until) {}
  Iterator begin() const { return {job_, until_}; }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  Job& job_;
  std::uint64_t until_;
};

// Throws std::logic_error without a Job.
RemainingEpochs remaining_epochs_until(std::uint64_t epochs);

}  // namespace rubato::runtime
