// How far a job's program has come: epochs, and in each of them the loops over loaders, counted in
// the order in which the program comes to them.
//
// A job that goes on runs its program from the beginning. Epochs that were finished are not given
// out again; of the epoch under way, and of what stands outside of epochs, loops that were finished
// are skipped, and the code between the loops runs again.
#pragma once

#include <cstdint>
#include <optional>

namespace rubato::runtime {

// Where a line of the program stands, by what a job that goes on makes of it.
enum class Level {
  loop,    // in a loop over a loader: it does not run again
  epoch,   // in an epoch, outside of loops: it runs again until the epoch is finished
  program  // outside of epochs: it runs again whenever the job goes on
};

class JobProgress {
 public:
  // What a job that goes on needs to know.
  struct Done {
    std::uint64_t epochs = 0;
    std::uint64_t loops_in_epoch = 0;  // of the epoch under way
    std::uint64_t loops_outside = 0;   // of epochs
    bool operator==(const Done&) const = default;
  };
  JobProgress() = default;
  explicit JobProgress(const Done& done) : done_(done) {}
  const Done& done() const noexcept { return done_; }

  // The epoch under way, counted from 0.
  std::optional<std::uint64_t> epoch() const noexcept { return epoch_; }
  // Both throw std::logic_error where the program nests what may not be nested.
  void begin_epoch();
  void end_epoch() noexcept;

  // Whether the loop that begins was finished before the job went on.
  bool enter_loop();
  void leave_loop() noexcept;
  bool is_in_loop() const noexcept { return is_in_loop_; }

  Level level() const noexcept;

 private:
  Done done_;
  std::optional<std::uint64_t> epoch_;
  bool is_in_loop_ = false;
  std::uint64_t passed_in_epoch_ = 0;  // loops, by this process
  std::uint64_t passed_outside_ = 0;
};

// A number that is another one after each beginning and end of an epoch, in this process.
std::uint64_t epoch_mark() noexcept;

}  // namespace rubato::runtime
