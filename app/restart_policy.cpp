// See restart_policy.hpp.
#include "app/restart_policy.hpp"

#include <algorithm>
#include <cmath>

#include "app/failure.hpp"

namespace rubato::app {
namespace {

using Action = RestartDecision::Action;

constexpr double longest_delay_seconds = 60;

bool is_lasting(int exit_code) {
  return exit_code == exit_usage || exit_code == exit_content || exit_code == exit_missing_file ||
         exit_code == exit_cannot_create;
}

}  // namespace

RestartDecision RestartPolicy::after(int exit_code, std::uint64_t update) {
  const std::string reason = describe_exit(exit_code);
  if (exit_code == exit_done) return {.action = Action::finish, .reason = reason};
  if (exit_code == stopped_code_) return {.action = Action::stop, .reason = reason};
  if (is_lasting(exit_code)) {
    return {.action = Action::give_up, .reason = reason + ", which a restart would not change"};
  }
  if (exit_code == exit_internal && internal_error_at_ == update) {
    return {.action = Action::give_up,
            .reason = reason + " twice at update " + std::to_string(update)};
  }
  internal_error_at_ = exit_code == exit_internal ? std::optional(update) : std::nullopt;
  count(update);
  if (failures_ > most_failures_) {
    return {.action = Action::give_up,
            .reason = reason + ", after " + std::to_string(most_failures_) +
                      (most_failures_ == 1 ? " restart" : " restarts") + " without progress"};
  }
  const double doublings = static_cast<double>(failures_) - 2;
  const double delay =
      failures_ == 1 ? 0 : std::min(longest_delay_seconds, backoff_seconds_ * exp2(doublings));
  return {.action = Action::restart, .delay_seconds = delay, .reason = reason};
}

void RestartPolicy::count(std::uint64_t update) {
  if (update > farthest_update_) failures_ = 0;
  farthest_update_ = std::max(farthest_update_, update);
  ++failures_;
}

std::string describe_exit(int exit_code) {
  if (exit_code > 128 && exit_code < 128 + 65) {
    return "killed by signal " + std::to_string(exit_code - 128);
  }
  return "exit code " + std::to_string(exit_code);
}

}  // namespace rubato::app
