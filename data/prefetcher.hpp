// Assembles the next minibatch on a thread of its own while the current one computes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/crop_flip.hpp"
#include "data/dataset.hpp"
#include "data/epoch_order.hpp"
#include "data/trace_plan.hpp"

namespace rubato::data {

// A minibatch ready to compute: NHWC inputs and labels.
struct LoadedMinibatch {
  Minibatch minibatch;
  std::span<const float> inputs;           // minibatch.size * shape.size()
  std::span<const std::int32_t> labels;    // minibatch.size
  std::span<const std::uint64_t> samples;  // minibatch.size: their indices in the data set
};

class Prefetcher {
 public:
  // `augmentation`, if any, is applied to all that is delivered.
  Prefetcher(std::shared_ptr<const Dataset> dataset, OrderKind order, std::uint64_t seed,
             std::uint64_t largest_minibatch, std::optional<CropFlip> augmentation = {});
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;
  ~Prefetcher();  // stops the thread

  // Appends minibatches to the queue. Does not wait.
  void request(std::span<const Minibatch> minibatches);
  // The next requested minibatch, in the order of the requests; valid until the next call. Rethrows
  // what went wrong on the thread. Precondition: something was requested.
  LoadedMinibatch next();
  // Forgets all that was requested and not delivered.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rubato::data
