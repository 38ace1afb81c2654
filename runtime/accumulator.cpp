// See accumulator.hpp.
#include "runtime/accumulator.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/accumulator_state.hpp"
#include "runtime/job.hpp"

namespace rubato::runtime {

Accumulator::Accumulator()
    : job_(Job::current("Accumulator")), state_(job_.accumulators().make(job_.progress())) {}

NamedSums& Accumulator::target() {
  if (!is_synchronized_) return state_->pending(job_.progress().level());
  was_changed_ = true;
  return shown_;
}

NamedSums& Accumulator::shown(const std::string& to_do) {
  if (is_synchronized_) return shown_;
  throw std::logic_error("Accumulator: cannot " + to_do +
                         " outside of synchronized(); there it takes += and -= alone");
}

Accumulator::Entry& Accumulator::Entry::operator+=(double number) {
  accumulator_.target()[name_] += number;
  return *this;
}

Accumulator::Entry& Accumulator::Entry::operator-=(double number) { return *this += -number; }

Accumulator::Entry& Accumulator::Entry::operator+=(const ExactSum& sum) {
  accumulator_.target()[name_] += sum;
  return *this;
}

Accumulator::Entry& Accumulator::Entry::operator-=(const ExactSum& sum) {
  accumulator_.target()[name_] -= sum;
  return *this;
}

Accumulator::Entry& Accumulator::Entry::operator=(double number) {
  accumulator_.shown("set \"" + name_ + "\"")[name_] = ExactSum(number);
  accumulator_.was_changed_ = true;
  return *this;
}

Accumulator::Entry::operator double() const {
  const NamedSums& shown = accumulator_.shown("read \"" + name_ + "\"");
  const auto found = shown.find(name_);
  if (found != shown.end()) return found->second;
  throw std::out_of_range("Accumulator: found no sum \"" + name_ + "\"");
}

void Accumulator::update(const std::map<std::string, double>& numbers) {
  for (const auto& [name, number] : numbers) (*this)[name] += number;
}

void Accumulator::subtract(const std::map<std::string, double>& numbers) {
  for (const auto& [name, number] : numbers) (*this)[name] -= number;
}

Accumulator::Synchronized Accumulator::synchronized() {
  const bool begins = !std::exchange(is_synchronized_, true);
  if (!begins) return {*this, /*ends_it=*/false};
  try {
    shown_ = state_->synchronize(job_.communicator(), job_.progress().level());
  } catch (...) {
    is_synchronized_ = false;
    throw;
  }
  return {*this, /*ends_it=*/true};
}

Accumulator::Synchronized::~Synchronized() {
  if (ends_it_) accumulator_.end_synchronized();
}

void Accumulator::end_synchronized() {
  is_synchronized_ = false;
  if (std::exchange(was_changed_, false)) state_->replace(shown_, job_.progress().level());
  shown_.clear();
}

std::size_t Accumulator::size() const noexcept { return shown_.size(); }

bool Accumulator::contains(const std::string& name) const { return shown_.contains(name); }

void Accumulator::erase(const std::string& name) {
  was_changed_ = shown("erase \"" + name + "\"").erase(name) > 0 || was_changed_;
}

void Accumulator::clear() {
  shown("clear()").clear();
  was_changed_ = true;
}

}  // namespace rubato::runtime
