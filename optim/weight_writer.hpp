// How a rank changes the weights of its slice, which all ranks of the node have read.
//
// In place, fetched for writing ahead; or in a copy that is then copied over them. Both give the
// same bits. Where the cores share a cache the first is faster, where not the second, by more than
// what stepping them takes; the writer finds out, again and again.
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

  // Lets change(begin, piece) change a block's weights from `begin` on, piece by piece: of so many
  // elements, or the whole block.
  template <std::size_t piece_elements, class Change>
  void write(std::span<float> block, const Change& change) {
    if (!others_read_) return change(std::size_t{0}, block);
    const auto start = std::chrono::steady_clock::now();
    if (in_copy_) {
      collectives::change_over<norm_block_elements>(
          block, [&](std::span<float> copy) { change(std::size_t{0}, copy); });
    } else {
      collectives::write_in_pieces<piece_elements>(block, change);
    }
    nanoseconds_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

 private:
  bool others_read_;
  bool in_copy_ = false;
  std::int64_t nanoseconds_ = 0;  // of this update so far
  FasterWay faster_;
};

}  // namespace rubato::optim
