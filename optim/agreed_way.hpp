// The faster of two ways in which all ranks do the same (faster_way.hpp).
//
// Ranks tell each other what a use took while they are in the next one. So each choice holds for
// three uses, of which the first counts: all ranks know it when they choose again, and choose
// alike. (For two, only every other use would count, and uses may differ in turn.) One way may take
// many times as long as the other, and seldom becomes the faster one.
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
    use_ = (use_ + 1) % uses_of_choice;
    if (use_ == 0) chosen_ = faster_.choose();
    return chosen_;
  }
  // After each choice: what the use before it took, the longest of all ranks.
  void took_before(std::int64_t nanoseconds) {
    if (use_ == 1) faster_.took(nanoseconds);
  }

 private:
  FasterWay faster_{FasterWay::Trials::rarely};
  std::size_t chosen_ = 0;
  std::size_t use_ = uses_of_choice - 1;  // of the choice
};

}  // namespace rubato::optim
