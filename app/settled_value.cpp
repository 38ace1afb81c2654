// See settled_value.hpp.
#include "app/settled_value.hpp"

namespace rubato::app {

std::uint64_t SettledValue::see(std::uint64_t value, Clock::time_point now) {
  if (!settled_) settled_ = candidate_ = value;
  if (value != candidate_) {
    candidate_ = value;
    since_ = now;
  }
  if (candidate_ != *settled_ && now - since_ >= settle_time_) settled_ = candidate_;
  return *settled_;
}

}  // namespace rubato::app
