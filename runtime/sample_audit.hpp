// Which samples a run has used, as a number that does not depend on who used them or in which
// order.
//
// Each use (epoch, update, sample) has a hash; the audit is their sum modulo 2^52, so that ranks
// can add up their parts, exactly even as doubles. Two histories of a run that used the same
// samples in the same updates, killed and resumed or not, have equal audits; a sample lost or used
// twice shows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace rubato::runtime {

inline constexpr std::uint64_t audit_mask = (std::uint64_t{1} << 52U) - 1;

// The sum of the hashes of the uses of these samples (indices into the data set) by one update.
std::uint64_t audit_of(std::uint64_t epoch, std::uint64_t update,
                       std::span<const std::uint64_t> samples);

struct EpochAudit {
  std::uint64_t epoch = 0;
  std::uint64_t samples = 0;  // used in it
  std::uint64_t digest = 0;
};

struct SampleAudit {
  std::uint64_t epoch = 0;  // the epoch under way, and what was used of it
  std::uint64_t epoch_samples = 0;
  std::uint64_t epoch_digest = 0;
  std::uint64_t run_digest = 0;  // of all epochs so far

  // Takes in uses of samples of the epoch under way.
  void add(std::uint64_t samples, std::uint64_t digest);
  // The epoch under way is now `next`; what there is to say of the one that was, if it is over.
  std::optional<EpochAudit> advance_to(std::uint64_t next);

  bool operator==(const SampleAudit&) const = default;
};

}  // namespace rubato::runtime
