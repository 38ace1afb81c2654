// One thread, one place for the checkpoint it works on, one lock around that place.
#include "runtime/checkpoint_writer.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/seconds_since.hpp"
#include "runtime/signals_blocked.hpp"

namespace rubato::runtime {

struct CheckpointWriter::State {
  State(CheckpointStore its_store, std::function<void()> callback)
      : store(std::move(its_store)), before_placing(std::move(callback)) {}

  void run();
  void write();
  void wait_until_idle(std::unique_lock<std::mutex>& lock) {
    changed.wait(lock, [this] { return !is_writing; });
  }

  const CheckpointStore store;
  const std::function<void()> before_placing;

  mutable std::mutex mutex;  // around all below, but for the checkpoint while it is written
  std::condition_variable changed;
  bool is_writing = false;
  bool is_ending = false;
  Checkpoint checkpoint;
  std::optional<std::string> failure;
  std::optional<Timing> timing;

  std::thread thread;
};

void CheckpointWriter::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return is_writing || is_ending; });
    if (!is_writing) return;
    lock.unlock();
    std::optional<std::string> sentence;
    try {
      write();
    } catch (const std::exception& error) {
      sentence = error.what();
    } catch (...) {
      sentence = "cannot write a checkpoint: something was thrown that is no error";
    }
    lock.lock();
    if (sentence) failure = std::move(sentence);
    is_writing = false;
    changed.notify_all();
  }
}

void CheckpointWriter::State::write() {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t update = checkpoint.state.cursor.update;
  const std::vector<std::byte> image = encode_checkpoint(checkpoint);
  const double encode_seconds = seconds_since(start);
  store.commit(update, image, before_placing);
  const std::scoped_lock lock(mutex);
  timing =
      Timing{update, image.size(), start, encode_seconds, seconds_since(start) - encode_seconds};
}

CheckpointWriter::CheckpointWriter(CheckpointStore store, std::function<void()> before_placing)
    : state_(std::make_unique<State>(std::move(store), std::move(before_placing))) {
  const SignalsBlocked for_the_thread;
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->is_ending = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

Checkpoint CheckpointWriter::take_buffer() {
  std::unique_lock lock(state_->mutex);
  state_->wait_until_idle(lock);
  return std::exchange(state_->checkpoint, {});
}

void CheckpointWriter::submit(Checkpoint&& filled) {
  {
    std::unique_lock lock(state_->mutex);
    state_->wait_until_idle(lock);
    state_->checkpoint = std::move(filled);
    state_->is_writing = true;
  }
  state_->changed.notify_all();
}

void CheckpointWriter::finish() {
  std::unique_lock lock(state_->mutex);
  state_->wait_until_idle(lock);
}

std::optional<std::string> CheckpointWriter::take_failure() {
  const std::scoped_lock lock(state_->mutex);
  return std::exchange(state_->failure, std::nullopt);
}

std::optional<CheckpointWriter::Timing> CheckpointWriter::last_timing() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->timing;
}

}  // namespace rubato::runtime
