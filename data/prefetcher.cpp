// See prefetcher.hpp. Three buffers: one is being used, one is ready, one is being filled. They are
// allocated once, for the largest minibatch.
//
// A buffer goes free -> (thread fills it) -> ready -> delivered -> free. All of that is under one
// mutex, except the filling. clear() does not wait for the thread: it raises the generation, and a
// buffer filled for an older generation is dropped.
#include "data/prefetcher.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace rubato::data {
namespace {

struct Buffer {
  Minibatch minibatch;
  std::vector<float> storage;
  std::span<float> inputs;  // of the storage, from a 64-byte boundary on: models need not copy it
  std::vector<std::int32_t> labels;
  std::vector<std::uint64_t> samples;  // indices in the data set
  std::exception_ptr error;            // what went wrong while filling
};

void allocate_inputs(Buffer& buffer, std::size_t elements) {
  constexpr std::size_t boundary_bytes = 64;
  buffer.storage.resize(elements + boundary_bytes / sizeof(float));
  void* begin = buffer.storage.data();
  std::size_t room_bytes = buffer.storage.size() * sizeof(float);
  std::align(boundary_bytes, elements * sizeof(float), begin, room_bytes);
  buffer.inputs = {static_cast<float*>(begin), elements};
}

}  // namespace

struct Prefetcher::State {
  State(std::shared_ptr<const Dataset> from, OrderKind kind, std::uint64_t order_seed,
        std::uint64_t largest, std::optional<CropFlip> changes)
      : dataset(std::move(from)),
        order_kind(kind),
        seed(order_seed),
        largest_minibatch(largest),
        augmentation(std::move(changes)) {
    for (Buffer& buffer : buffers) {
      allocate_inputs(buffer, largest * dataset->shape().size());
      buffer.labels.resize(largest);
      buffer.samples.resize(largest);
      free.push_back(&buffer);
    }
  }

  void run();
  void fill(Buffer& buffer);

  const std::shared_ptr<const Dataset> dataset;
  const OrderKind order_kind;
  const std::uint64_t seed;
  const std::uint64_t largest_minibatch;

  // Of the thread alone:
  std::optional<EpochOrder> order;  // of `order_epoch`: a rank asks for epochs one after the other
  std::uint64_t order_epoch = 0;
  std::optional<CropFlip> augmentation;

  // Under the mutex, but for the content of a buffer that is being filled or is delivered:
  std::mutex mutex;
  std::condition_variable work;      // something to fill and a buffer for it, or stop
  std::condition_variable delivery;  // something ready
  std::array<Buffer, 3> buffers;
  std::deque<Minibatch> requested;  // not begun
  std::deque<Buffer*> ready;
  std::vector<Buffer*> free;
  Buffer* delivered = nullptr;
  std::size_t outstanding = 0;  // requested, being filled or ready
  std::uint64_t generation = 0;
  bool should_stop = false;

  std::thread thread;  // last, so that it finds everything made
};

void Prefetcher::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [&] { return should_stop || (!requested.empty() && !free.empty()); });
    if (should_stop) return;
    Buffer& buffer = *free.back();
    free.pop_back();
    buffer.minibatch = requested.front();
    requested.pop_front();
    const std::uint64_t begun_in = generation;
    lock.unlock();
    fill(buffer);
    lock.lock();
    if (begun_in == generation) {
      ready.push_back(&buffer);
      delivery.notify_one();
    } else {
      free.push_back(&buffer);
    }
  }
}

void Prefetcher::State::fill(Buffer& buffer) try {
  buffer.error = nullptr;
  const Minibatch& minibatch = buffer.minibatch;
  if (!order || order_epoch != minibatch.epoch) {
    order.emplace(order_kind, dataset->size(), seed, minibatch.epoch);
    order_epoch = minibatch.epoch;
  }
  const std::span<std::uint64_t> chosen(buffer.samples.data(), minibatch.size);
  order->read(minibatch.begin, chosen);
  const std::span<float> inputs = buffer.inputs.first(minibatch.size * dataset->shape().size());
  dataset->read(chosen, inputs, std::span(buffer.labels).first(minibatch.size));
  if (augmentation) augmentation->apply(minibatch.epoch, chosen, inputs);
} catch (...) {
  buffer.error = std::current_exception();
}

Prefetcher::Prefetcher(std::shared_ptr<const Dataset> dataset, OrderKind order, std::uint64_t seed,
                       std::uint64_t largest_minibatch, std::optional<CropFlip> augmentation)
    : state_(std::make_unique<State>(std::move(dataset), order, seed, largest_minibatch,
                                     std::move(augmentation))) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->should_stop = true;
  }
  state_->work.notify_one();
  state_->thread.join();
}

void Prefetcher::request(std::span<const Minibatch> minibatches) {
  for (const Minibatch& minibatch : minibatches) {
    if (minibatch.size <= state_->largest_minibatch) continue;
    throw std::invalid_argument("prefetcher: found a minibatch of " +
                                std::to_string(minibatch.size) + " samples, expected at most " +
                                std::to_string(state_->largest_minibatch));
  }
  {
    const std::lock_guard lock(state_->mutex);
    // One by one: insert() into an empty deque puts them in front of where the last ones were, and
    // so takes a new block of memory whenever they were at a block's begin.
    for (const Minibatch& minibatch : minibatches) state_->requested.push_back(minibatch);
    state_->outstanding += minibatches.size();
  }
  state_->work.notify_one();
}

LoadedMinibatch Prefetcher::next() {
  std::unique_lock lock(state_->mutex);
  if (state_->outstanding == 0) {
    throw std::logic_error("prefetcher: next() found nothing requested");
  }
  if (state_->delivered != nullptr) {
    state_->free.push_back(std::exchange(state_->delivered, nullptr));
    if (!state_->requested.empty()) state_->work.notify_one();
  }
  state_->delivery.wait(lock, [&] { return !state_->ready.empty(); });
  Buffer& buffer = *state_->ready.front();
  state_->ready.pop_front();
  state_->delivered = &buffer;
  --state_->outstanding;
  if (buffer.error) std::rethrow_exception(buffer.error);
  const std::size_t samples = buffer.minibatch.size;
  return {buffer.minibatch, buffer.inputs.first(samples * state_->dataset->shape().size()),
          std::span(buffer.labels).first(samples), std::span(buffer.samples).first(samples)};
}

void Prefetcher::clear() {
  const std::lock_guard lock(state_->mutex);
  ++state_->generation;
  state_->requested.clear();
  state_->free.insert(state_->free.end(), state_->ready.begin(), state_->ready.end());
  state_->ready.clear();
  state_->outstanding = 0;
}

}  // namespace rubato::data
