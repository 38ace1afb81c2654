// Which of two ways to do the same is the faster one here and now.
//
// That may depend on where the cores are, which changes on a virtual machine. So now and then the
// other way is tried, and the one with the lower median of its last times is the usual one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rubato::optim {

class FasterWay {
 public:
  // No multiple of a small number: uses may differ in turn, as updates of a trace do. Nor are two
  // more, where a trial takes two uses that are no trials besides (weight_writer.hpp).
  static constexpr std::size_t trial_period = 41;
  // Of each way, that its median counts: times differ by as much as ways do.
  static constexpr std::size_t times_kept = 9;

  // The way to go this time: 0 or 1.
  std::size_t choose();
  // What it took.
  void took(std::int64_t nanoseconds);

 private:
  struct Times {  // the last ones of a way
    std::array<std::int64_t, times_kept> nanoseconds = {};
    std::size_t count = 0;

    bool is_known() const { return count >= nanoseconds.size(); }
    std::int64_t median() const;
  };

  std::array<Times, 2> times_;
  std::size_t usual_ = 0;
  std::size_t chosen_ = 0;
  std::size_t uses_ = 0;
};

}  // namespace rubato::optim
