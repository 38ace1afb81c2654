// How long updates of each kind took: what the performance model is fitted to
// (optim/performance_fit.hpp). A run that goes on elsewhere takes it along, so that it knows how
// long updates took on other ranks and hosts.
//
// Times are collected while one kind of update runs, and the mean of their middle half goes into
// the kind's running mean: what some updates waited for by chance does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optim/performance_fit.hpp"

namespace rubato::runtime {

struct UpdateKind {
  std::size_t hosts = 1;
  std::size_t ranks = 1;
  std::uint64_t minibatch = 1;    // samples of one that is not short
  std::uint64_t minibatches = 1;  // of all ranks
  bool operator==(const UpdateKind&) const = default;
};

class UpdateProfile {
 public:
  UpdateProfile();

  // Of one update: seconds of a substep and of the whole. Allocates nothing; of hundreds of updates
  // since settle() the last ones count. Precondition: all since then are of one kind.
  void observe(const UpdateKind& kind, double substep_seconds, double update_seconds);

  // Takes what was observed into the means, if anything was; with the substeps of the rank that
  // took longest (optim/longest_share.hpp).
  void settle(double longest_share);
  const UpdateKind& observed() const noexcept { return kind_; }

  // Of the settled means: one for each kind.
  std::vector<optim::Measurement> measurements() const;

  // The settled means as text, and back. Lines that say nothing sensible are passed over.
  std::string text() const;
  void restore(const std::string& text);

 private:
  struct Times {
    UpdateKind kind;
    double longest_share = 1;
    double substep_seconds = 0;
    double update_seconds = 0;
    std::uint64_t updates = 0;
  };
  void take(const Times& times);

  std::vector<Times> kinds_;      // those observed last are at the end
  UpdateKind kind_;               // under observation
  std::vector<double> substeps_;  // seconds
  std::vector<double> updates_;   // seconds
  std::uint64_t observed_ = 0;
};

}  // namespace rubato::runtime
