// Sums by name, over minibatches and ranks: what a test loop wants to know.
//
//   runtime::Accumulator stats;                       // outside of loops over loaders
//   for (auto& batch : test) stats["correct"] += model.evaluate(batch).correct;
//   if (auto all = stats.synchronized()) use(all["correct"]);
//
// Outside of synchronized() an accumulator takes additions of this rank and shows nothing: it looks
// empty, and to read or to set an entry throws std::logic_error. synchronized() is collective: it
// sums over the ranks, and until what it returns is gone the accumulator is a plain table of the
// results, which all ranks must use alike. Within another one it does nothing.
//
// Sums are exact (exact_sum.hpp). So of the same additions they are the same bits, whichever rank
// made which: of integers, of sums over whole minibatches (as model.evaluate() has them), of any
// numbers that do not themselves depend on who has which minibatches.
//
// A job that goes on (job.hpp) runs its program again. Results that were shown outside of loops are
// then shown again, and what was added again before is discarded; what was added in loops, which
// are not run again, is kept. So nothing is counted twice and nothing is lost. Make accumulators in
// the same order on all ranks.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "runtime/exact_sum.hpp"
#include "runtime/named_sums.hpp"

namespace rubato::runtime {

class AccumulatorState;
class Job;

class Accumulator {
 public:
  // An entry, which need not be there yet.
  class Entry {
   public:
    Entry& operator+=(double number);
    Entry& operator-=(double number);
    Entry& operator+=(const ExactSum& sum);
    Entry& operator-=(const ExactSum& sum);
    Entry& operator=(double number);
    // Also throws std::out_of_range where there is no such entry.
    operator double() const;  // NOLINT: an entry reads as a number

   private:
    friend class Accumulator;
    Entry(Accumulator& accumulator, std::string name)
        : accumulator_(accumulator), name_(std::move(name)) {}
    Accumulator& accumulator_;
    std::string name_;
  };

  // While it lives, the accumulator shows its sums.
  class Synchronized {
   public:
    Synchronized(const Synchronized&) = delete;
    Synchronized& operator=(const Synchronized&) = delete;
    ~Synchronized();
    explicit operator bool() const noexcept { return true; }
    Entry operator[](std::string name) { return accumulator_[std::move(name)]; }

   private:
    friend class Accumulator;
    Synchronized(Accumulator& accumulator, bool ends_it)
        : accumulator_(accumulator), ends_it_(ends_it) {}
    Accumulator& accumulator_;
    bool ends_it_;
  };

  Accumulator();  // throws std::logic_error without a Job, or in a loop over a loader
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  Entry operator[](std::string name) { return {*this, std::move(name)}; }
  void update(const std::map<std::string, double>& numbers);    // adds each of them
  void subtract(const std::map<std::string, double>& numbers);  // subtracts them

  Synchronized synchronized();  // collective

  // Of the results; outside of synchronized() there are none.
  std::size_t size() const noexcept;
  bool contains(const std::string& name) const;
  void erase(const std::string& name);  // this and the next throw outside of synchronized()
  void clear();

 private:
  NamedSums& target();  // of additions
  NamedSums& shown(const std::string& to_do);
  void end_synchronized();

  Job& job_;
  std::shared_ptr<AccumulatorState> state_;
  bool is_synchronized_ = false;
  bool was_changed_ = false;
  NamedSums shown_;
};

}  // namespace rubato::runtime
