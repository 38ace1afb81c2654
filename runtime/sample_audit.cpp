// The hash is the finaliser of SplitMix64 (Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195),
// once for each number of the key.
#include "runtime/sample_audit.hpp"

#include <utility>

namespace rubato::runtime {

namespace {

std::uint64_t mix(std::uint64_t key, std::uint64_t value) {
  std::uint64_t word = (key ^ value) + 0x9e3779b97f4a7c15U;
  word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27U)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31U);
}

}  // namespace

std::uint64_t audit_of(std::uint64_t epoch, std::uint64_t update,
                       std::span<const std::uint64_t> samples) {
  const std::uint64_t key = mix(mix(0, epoch), update);
  std::uint64_t sum = 0;
  for (const std::uint64_t sample : samples) sum += mix(key, sample);
  return sum & audit_mask;
}

void SampleAudit::add(std::uint64_t samples, std::uint64_t digest) {
  epoch_samples += samples;
  epoch_digest = (epoch_digest + digest) & audit_mask;
  run_digest = (run_digest + digest) & audit_mask;
}

std::optional<EpochAudit> SampleAudit::advance_to(std::uint64_t next) {
  if (next == epoch) return std::nullopt;
  return EpochAudit{std::exchange(epoch, next), std::exchange(epoch_samples, 0),
                    std::exchange(epoch_digest, 0)};
}

}  // namespace rubato::runtime
