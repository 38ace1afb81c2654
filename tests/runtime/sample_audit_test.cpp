// The audit: blind to order and division of the work, and to nothing else.
#include "runtime/sample_audit.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <span>
#include <vector>

namespace rubato::runtime {
namespace {

std::vector<std::uint64_t> range(std::uint64_t count) {
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0);
  return samples;
}

std::uint64_t audit_of_list(std::uint64_t epoch, std::uint64_t update,
                            const std::vector<std::uint64_t>& samples) {
  return audit_of(epoch, update, samples);
}

TEST(SampleAudit, IsTheSameHoweverTheSamplesAreDividedAndOrdered) {
  const std::vector<std::uint64_t> samples = range(100);
  const std::uint64_t whole = audit_of(3, 7, samples);
  const std::vector<std::uint64_t> backwards(samples.rbegin(), samples.rend());
  EXPECT_EQ(audit_of(3, 7, backwards), whole);
  for (const std::size_t cut : {1U, 37U, 99U}) {
    const std::span<const std::uint64_t> all(samples);
    const std::uint64_t sum = audit_of(3, 7, all.first(cut)) + audit_of(3, 7, all.subspan(cut));
    EXPECT_EQ(sum & audit_mask, whole) << cut;
  }
}

TEST(SampleAudit, SeesALostADoubledAndAnExchangedSampleAndAnotherUpdateOrEpoch) {
  const std::set<std::uint64_t> audits{
      audit_of_list(0, 0, {0, 1, 2}),    audit_of_list(0, 0, {0, 1}),
      audit_of_list(0, 0, {0, 1, 2, 2}), audit_of_list(0, 0, {0, 1, 3}),
      audit_of_list(0, 1, {0, 1, 2}),    audit_of_list(1, 0, {0, 1, 2}),
  };
  EXPECT_EQ(audits.size(), 6U);
}

TEST(SampleAudit, OfNothingIsZeroAndOfAnythingFitsADoubleExactly) {
  EXPECT_EQ(audit_of(5, 6, {}), 0U);
  const std::uint64_t audit = audit_of(5, 6, range(1000));
  EXPECT_LE(audit, audit_mask);
  EXPECT_EQ(static_cast<std::uint64_t>(static_cast<double>(audit)), audit);
}

TEST(SampleAudit, AddsUpOverTheRunAndBeginsAnewWithEachEpoch) {
  SampleAudit audit;
  EXPECT_EQ(audit.advance_to(0), std::nullopt);
  audit.add(10, 5);
  audit.add(20, audit_mask);  // that is -1
  EXPECT_EQ(audit, (SampleAudit{0, 30, 4, 4}));
  const auto ended = audit.advance_to(1);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->epoch, 0U);
  EXPECT_EQ(ended->samples, 30U);
  EXPECT_EQ(ended->digest, 4U);
  audit.add(1, 8);
  EXPECT_EQ(audit, (SampleAudit{1, 1, 8, 12}));
}

}  // namespace
}  // namespace rubato::runtime
