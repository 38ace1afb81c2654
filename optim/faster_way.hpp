// Which of two ways to do the same is the faster one here and now.
//
// That may depend on where the cores are, which changes on a virtual machine. So now and then the
// other way is tried, and the one with the lower median of its last five times is the usual one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rubato::optim {

class FasterWay {
 public:
  // No multiple of a small number: uses may differ in turn, as updates of a trace do.
  static constexpr std::size_t trial_period = 23;

  // The way to go this time: 0 or 1.
  std::size_t choose();
  // What it took.
  void took(std::int64_t nanoseconds);

 private:
  struct Times {  // the last ones of a way
    std::array<std::int64_t, 5> nanoseconds = {};
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
