// How a rank changes the weights of its slice, which all ranks of the node have read.
//
// Either in place, where they are fetched for writing ahead, or in a copy of each block, which is
// then copied over it. The bits are the same. The first is faster where the cores share a cache,
// the second where they do not; the writer times both.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collectives/copy_over.hpp"
#include "collectives/write_prefetch.hpp"
#include "optim/faster_way.hpp"
#include "optim/norm_block.hpp"

namespace rubato::optim {

class WeightWriter {
 public:
  explicit WeightWriter(bool others_read) : others_read_(others_read) {}

  // A new update, of all weights of the slice.
  void begin() {
    if (nanoseconds_ > 0) faster_.took(nanoseconds_);
    nanoseconds_ = 0;
    in_copy_ = faster_.choose() == 1;
  }

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

 private:
  template <class Change, class InPlace>
  void in_the_chosen_way(std::span<float> block, const Change& change, const InPlace& in_place) {
    const auto start = std::chrono::steady_clock::now();
    if (in_copy_) {
      collectives::change_over<norm_block_elements>(block, change);
    } else {
      in_place();
    }
    nanoseconds_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

  bool others_read_;
  bool in_copy_ = false;
  std::int64_t nanoseconds_ = 0;  // of this update so far
  FasterWay faster_;
};

}  // namespace rubato::optim
