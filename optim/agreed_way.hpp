// The faster of two ways in which all ranks do the same (faster_way.hpp).
//
// Ranks tell each other what a use took while they are in the next one. So each choice holds for
// three uses, of which the first counts: all ranks know it when they choose again, and choose
// alike. (For two, only every other use would count, and uses may differ in turn.) The very first
// uses, which find memory and connections new, count for nothing. One way may take many times as
// long as the other, and seldom becomes the faster one; way 1 is the plain one, taken unless way
// 0 proves to be faster.
#pragma once

#include <cstddef>
#include <cstdint>

#include "optim/faster_way.hpp"

namespace rubato::optim {

class AgreedWay {
 public:
  static constexpr std::size_t uses_of_choice = 3;

  // The way to go this time: 0 or 1.
  std::size_t choose() {
    const bool is_settled = uses_ >= uses_of_choice;
    if (is_settled && uses_ % uses_of_choice == 0) chosen_ = faster_.choose();
    ++uses_;
    return chosen_;
  }
  // After each choice: what the use before it took, the longest of all ranks.
  void took_before(std::int64_t nanoseconds) {
    const std::size_t before = uses_ - 2;
    if (uses_ > uses_of_choice && before % uses_of_choice == 0) faster_.took(nanoseconds);
  }

 private:
  FasterWay faster_{FasterWay::Trials::rarely};
  std::size_t chosen_ = 0;
  std::size_t uses_ = 0;
};

}  // namespace rubato::optim
