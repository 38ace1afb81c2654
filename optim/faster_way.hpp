// Which of two ways to do the same is the faster one here and now.
//
// That may depend on where the cores are, which changes on a virtual machine. So now and then the
// other way is tried. Times wander by more than ways differ: a trial is compared with the uses just
// before it, and the last comparisons decide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rubato::optim {

class FasterWay {
 public:
  // Uses from one trial to the next: the first, or the first that keeps trials rare enough. No
  // multiples of a small number, since uses may differ in turn, as updates of a trace do; nor are
  // two more, where a trial takes two uses that are no trials besides (weight_writer.hpp).
  static constexpr std::array<std::size_t, 6> trial_periods = {41, 101, 197, 419, 809, 1607};
  // Trials that decide, and uses just before one that it is compared with.
  static constexpr std::size_t times_kept = 9;

  // Often, where what is faster may change soon: the median of the comparisons decides. Rarely,
  // where a trial may cost much: what trials take beyond the usual way is at most a 50th of all
  // time, and the first five decide. Then way 0 has to prove itself: it is taken where three
  // quarters of the comparisons find it the faster one. Where the two take about as long, chance
  // would have it taken half of the time.
  enum class Trials { often, rarely };
  explicit FasterWay(Trials trials = Trials::often) : trials_(trials) {}

  // The way to go this time: 0 or 1.
  std::size_t choose();
  // What it took.
  void took(std::int64_t nanoseconds);

 private:
  struct Times {  // the last ones
    std::array<std::int64_t, times_kept> nanoseconds = {};
    std::size_t count = 0;

    void add(std::int64_t one) { nanoseconds[count++ % times_kept] = one; }
    std::int64_t median() const { return quantile(1, 2); }
    // That numerator / denominator of the times are no longer than, and the rest no shorter.
    std::int64_t quantile(std::size_t numerator, std::size_t denominator) const;
  };

  // Until then trials take turns with other uses.
  bool is_decided() const {
    return second_is_more_.count >= (trials_ == Trials::often ? times_kept : 5);
  }
  std::size_t period() const;
  bool is_second_faster() const;

  Trials trials_;
  Times usual_times_;     // of the usual way; when that changes, new ones come before a trial
  Times second_is_more_;  // of each trial: what way 1 took beyond way 0
  std::size_t usual_ = 0;
  std::size_t chosen_ = 0;
  std::size_t uses_ = 0;  // since the last trial
};

}  // namespace rubato::optim
