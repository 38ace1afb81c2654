// See stop_wish.hpp.
#include "runtime/stop_wish.hpp"

namespace rubato::runtime {

StopCause StopWish::wish() const {
  if (options_.stop_request != nullptr && options_.stop_request->is_requested()) {
    return StopCause::signal;
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  const bool is_late = options_.max_seconds && passed.count() >= *options_.max_seconds;
  return is_late ? StopCause::time : StopCause::none;
}

bool StopWish::is_at_stop(std::uint64_t updates) const {
  return options_.stop_after_update && updates >= *options_.stop_after_update;
}

std::string StopWish::name_of(StopCause cause) const {
  if (cause == StopCause::update) return "--stop-after-update";
  if (cause == StopCause::time) return "--max-seconds";
  const std::string mine =
      options_.stop_request != nullptr ? options_.stop_request->cause() : std::string();
  return mine.empty() ? "a signal to another rank" : mine;
}

}  // namespace rubato::runtime
