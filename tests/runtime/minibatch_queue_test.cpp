#include "runtime/minibatch_queue.hpp"

#include <gtest/gtest.h>

#include "data/data_source.hpp"

namespace rubato::runtime {
namespace {

class MinibatchQueueTest : public testing::Test {
 protected:
  MinibatchQueue queue_of(std::size_t rank, std::size_t ranks) const {
    return {digits.train, data::OrderKind::sequential, 1, 4, rank, ranks};
  }
  // The samples that the queue has left of the batch begun.
  static std::vector<std::uint64_t> rest_of(MinibatchQueue& queue) {
    std::vector<std::uint64_t> samples;
    while (const auto loaded = queue.next()) {
      samples.insert(samples.end(), loaded->samples.begin(), loaded->samples.end());
    }
    return samples;
  }

  const data::DataSource digits = data::open_data({.spec = "digits"});
  const data::TracePlan plan{data::BatchTrace::constant(10), {.samples = 1438, .minibatch = 4}};
  const data::PlannedUpdate first = *plan.next({});
  const data::PlannedUpdate second = *plan.next(first.end);
};

TEST_F(MinibatchQueueTest, RanksTakeTurnsOverBatches) {
  using Samples = std::vector<std::uint64_t>;
  MinibatchQueue zero = queue_of(0, 2);
  MinibatchQueue one = queue_of(1, 2);
  for (const bool reads_ahead : {false, true}) {
    zero.begin(first, reads_ahead ? &second : nullptr);
    EXPECT_EQ(rest_of(zero), (Samples{0, 1, 2, 3, 8, 9}));
    zero.begin(second, nullptr);
    EXPECT_EQ(rest_of(zero), (Samples{14, 15, 16, 17}));
    one.begin(first, reads_ahead ? &second : nullptr);
    EXPECT_EQ(rest_of(one), (Samples{4, 5, 6, 7}));
    one.begin(second, nullptr);
    EXPECT_EQ(rest_of(one), (Samples{10, 11, 12, 13, 18, 19}));
  }
  EXPECT_TRUE(share_of(first, 7, 8).empty());
}

TEST_F(MinibatchQueueTest, ABatchMayBeLeftOrBegunAgain) {
  MinibatchQueue queue = queue_of(0, 1);
  queue.begin(first, &second);
  EXPECT_EQ(queue.next()->samples[0], 0U);
  queue.begin(first, &second);
  EXPECT_EQ(rest_of(queue).size(), 10U);
  queue.begin(first, &second);
  queue.next();
  queue.begin(second, nullptr);  // read ahead behind what is left of the first
  EXPECT_EQ(queue.next()->samples[0], 10U);
  EXPECT_EQ(rest_of(queue).size(), 6U);
}

}  // namespace
}  // namespace rubato::runtime
