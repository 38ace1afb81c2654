// Writes checkpoints on a thread of its own while training goes on.
//
//   Checkpoint buffer = writer.take_buffer();   // waits for the write before this one, if any
//   ... copy the state into it: its vectors keep their memory ...
//   writer.submit(std::move(buffer));           // returns at once
//
// At most one write is under way, so the state is in memory twice, and its file's image while it is
// written. The thread takes no signals and makes no MPI call. It is as important as training: a
// polite one (nice 19) was seen to take minutes for a checkpoint of kilobytes on a busy machine,
// when a run that is told to stop has a second. A write that fails is told by take_failure(): what
// was on disk stays there, and training can go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/checkpoint.hpp"
#include "runtime/checkpoint_store.hpp"

namespace rubato::runtime {

class CheckpointWriter {
 public:
  struct Timing {
    std::uint64_t update = 0;
    std::uint64_t bytes = 0;
    std::chrono::steady_clock::time_point begin = {};
    double encode_seconds = 0;
    double write_seconds = 0;  // until it is durable and older ones are removed
  };

  // `before_placing` is called on the thread when a checkpoint is on disk and has not taken its
  // name yet; what it throws makes that write fail.
  explicit CheckpointWriter(CheckpointStore store, std::function<void()> before_placing = {});
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();  // finishes

  // Waits until no write is under way; the last checkpoint submitted, or an empty one.
  Checkpoint take_buffer();
  // Waits until no write is under way, then starts this one.
  void submit(Checkpoint&& filled);
  void finish();  // waits until no write is under way

  // The sentence of the last write that failed since this was asked last.
  std::optional<std::string> take_failure();
  // Of the last write that succeeded.
  std::optional<Timing> last_timing() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rubato::runtime
