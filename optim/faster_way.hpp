// Which of two ways to do the same is the faster one here and now.
//
// For what cannot be known beforehand: where two cores share no cache, other ways are fast than
// where they do, and a virtual machine's are moved about. So the other way is gone every so often
// too, and the one whose last few times were shorter is the usual one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rubato::optim {

class FasterWay {
 public:
  static constexpr std::size_t trial_period = 24;

  // The way to go this time: 0 or 1.
  std::size_t choose();
  // What it took.
  void took(std::int64_t nanoseconds);

 private:
  struct Times {  // the last ones of a way
    std::array<std::int64_t, 3> nanoseconds = {};
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
