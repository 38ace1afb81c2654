// The faster of two ways in which all ranks do the same (faster_way.hpp).
//
// Ranks tell each other what a use took while they are in the next one. So each choice holds for
// two uses, of which the first counts: all ranks know it when they choose again, and choose alike.
// One way may take many times as long as the other, and seldom becomes the faster one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "optim/faster_way.hpp"

namespace rubato::optim {

class AgreedWay {
 public:
  // The way to go this time: 0 or 1.
  std::size_t choose() {
    is_second_ = !is_second_;
    if (!is_second_) chosen_ = faster_.choose();
    return chosen_;
  }
  // After each choice: what the use before it took, the longest of all ranks.
  void took_before(std::int64_t nanoseconds) {
    if (is_second_) faster_.took(nanoseconds);
  }

 private:
  FasterWay faster_{FasterWay::Trials::a_fiftieth_at_most};
  std::size_t chosen_ = 0;
  bool is_second_ = true;  // use of a choice
};

}  // namespace rubato::optim
