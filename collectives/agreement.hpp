// Agreement: all ranks go on, or all ranks stop, with one message.
#pragma once

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/communicator.hpp"
#include "collectives/session.hpp"

namespace rubato::collectives {

// Thrown on every rank by agree(): the failure of the lowest rank that failed.
class AgreedFailure : public std::runtime_error {
 public:
  explicit AgreedFailure(Failure failure)
      : std::runtime_error(failure.message), failure_(std::move(failure)) {}
  const Failure& failure() const noexcept { return failure_; }

 private:
  Failure failure_;
};

// Collective. Runs `attempt`, which may not communicate, on every rank; if it threw on any of them,
// every rank throws AgreedFailure with the failure of the lowest such rank. The message names that
// rank and its host unless all failed alike.
void agree(const Communicator& communicator, const std::function<void()>& attempt,
           const Explain& explain);

// Collective. One name and its value for each thing that must be the same on all ranks (layout,
// kernels, options). Throws AgreedFailure (exit code 71) naming the first that differs, both values
// and the ranks that hold them.
struct NamedValue {
  std::string name;
  std::string value;
};
void require_same(const Communicator& communicator, const std::vector<NamedValue>& values);

}  // namespace rubato::collectives
