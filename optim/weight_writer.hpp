// How a rank changes the weights of its slice, which all ranks of the node have read, and what it
// computes with.
//
// Either in place, where they are fetched for writing ahead, and all ranks compute with them. Or in
// a copy, which is then copied over them. The copy is the rank's own weights (own_weights.hpp), if
// it may compute with some: then it goes past the cache, as the rank does not read the node's. Else
// it is one of each block. The bits are the same. The first way is faster where the cores share a
// cache, the second where they do not; the writer times both.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>

#include "collectives/copy_over.hpp"
#include "collectives/streaming_copy.hpp"
#include "collectives/topology.hpp"
#include "collectives/write_prefetch.hpp"
#include "optim/faster_way.hpp"
#include "optim/norm_block.hpp"
#include "optim/own_weights.hpp"

namespace rubato::optim {

class WeightWriter {
 public:
  explicit WeightWriter(bool others_read) : others_read_(others_read) {}

  // The rank may compute with weights of its own: a copy of `shared`, the node's, of which it owns
  // `mine`, unless nobody else reads them or they are too large. Blocks then begin at multiples of
  // 16 bytes. Whether it may. Throws std::system_error where there is no memory for one.
  bool allow_own(std::span<const float> shared, collectives::Slice mine);
  // What the rank has computed with since the update before, which meets weights that others have
  // written: how many minibatches, and how long they took together.
  void computed(std::span<const float> with, double seconds, std::size_t minibatches);

  // A new update, of all weights of the slice.
  void begin();

  // Lets change(begin, piece) change the weights of a block, at most norm_block_elements of them:
  // pieces of it, each from `begin` on, one after the other.
  template <class Change>
  void write(std::span<float> block, const Change& change) {
    const auto change_all = [&](std::span<float> all) { change(std::size_t{0}, all); };
    if (!others_read_) return change_all(block);
    in_the_chosen_way(block, change_all, [&] { collectives::write_in_pieces(block, change); });
  }

  // Lets change(weights) change all weights of a block at once.
  template <class Change>
  void write_whole(std::span<float> block, const Change& change) {
    if (!others_read_) return change(block);
    in_the_chosen_way(block, change, [&] {
      collectives::prefetch_for_writing(block);
      change(block);
    });
  }

  // When all ranks of the node have written theirs: what to compute with from now on. None: with
  // the weights that the node shares.
  std::span<const float> own_weights();
  // Whether it has some, as they are.
  bool has_own() const { return has_mine_; }

 private:
  using Clock = std::chrono::steady_clock;

  template <class Change, class InPlace>
  void in_the_chosen_way(std::span<float> block, const Change& change, const InPlace& in_place) {
    if (block.size() > norm_block_elements) throw std::logic_error("a block of weights too large");
    const auto start = Clock::now();
    if (!in_copy_) {
      in_place();
    } else if (own_) {
      change_own(block, change);
    } else {
      collectives::change_over<norm_block_elements>(block, change);
    }
    add_since(start);
  }

  template <class Change>
  void change_own(std::span<float> block, const Change& change) {
    const std::span<float> own = own_->of(block);
    change(own);
    collectives::streaming_copy<float>(own, block.data());
  }

  void add_since(Clock::time_point start) {
    nanoseconds_ += std::chrono::nanoseconds(Clock::now() - start).count();
  }

  bool others_read_;
  std::unique_ptr<OwnWeights> own_;
  bool in_copy_ = false;
  bool has_mine_ = false;  // the rank's own weights have its slice as it is
  bool has_changed_way_ = true;
  std::int64_t nanoseconds_ = 0;  // of this update so far, and of computing with its weights
  std::int64_t minibatches_ = 1;  // that were computed meanwhile: what counts is the time of one
  FasterWay faster_;
};

}  // namespace rubato::optim
