// A loop over a loader, and the batches that it gives out.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

#include "data/prefetcher.hpp"
#include "data/trace_plan.hpp"

namespace rubato::runtime {

class AdaptiveDataLoader;
class MinibatchQueue;

// One batch of the whole job. To loop over it gives this rank's minibatches, one after the other,
// each valid until the next: none, where there are fewer minibatches than ranks.
class Batch {
 public:
  class Iterator {
   public:
    explicit Iterator(MinibatchQueue& queue);
    const data::LoadedMinibatch& operator*() const noexcept { return *minibatch_; }
    const data::LoadedMinibatch* operator->() const noexcept { return &*minibatch_; }
    Iterator& operator++();
    bool operator==(std::default_sentinel_t) const noexcept { return !minibatch_; }

   private:
    MinibatchQueue& queue_;
    std::optional<data::LoadedMinibatch> minibatch_;
  };

  Batch(AdaptiveDataLoader& loader, data::PlannedUpdate update);

  std::uint64_t size() const noexcept { return update_.batch_size; }  // samples, over all ranks
  Iterator begin();
  std::default_sentinel_t end() const noexcept { return {}; }

  // For the model.
  const data::PlannedUpdate& update() const noexcept { return update_; }
  AdaptiveDataLoader& loader() noexcept { return *loader_; }
  // An update was made of it; `wishes` of all ranks came with it.
  void was_trained(std::uint64_t wishes) noexcept { wishes_ = wishes; }
  std::optional<std::uint64_t> wishes() const noexcept { return wishes_; }

 private:
  AdaptiveDataLoader* loader_;
  data::PlannedUpdate update_;
  std::optional<std::uint64_t> wishes_;
};

class LoaderLoop {
 public:
  explicit LoaderLoop(AdaptiveDataLoader& loader);
  LoaderLoop(const LoaderLoop&) = delete;
  LoaderLoop& operator=(const LoaderLoop&) = delete;
  ~LoaderLoop();  // left early: says no word to other ranks

  Batch& operator*() noexcept { return *batch_; }
  // The batch is done. May throw JobStopped (job.hpp).
  LoaderLoop& operator++();
  bool operator==(std::default_sentinel_t) const noexcept { return !batch_; }

 private:
  // The loop's place in the program, from its beginning to its end.
  class Place {
   public:
    Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { leave(); }
    bool was_done() const noexcept { return was_done_; }
    void leave() noexcept;

   private:
    bool was_done_;
    bool is_in_ = true;
  };

  AdaptiveDataLoader& loader_;
  Place place_;
  std::optional<Batch> batch_;
};

}  // namespace rubato::runtime
