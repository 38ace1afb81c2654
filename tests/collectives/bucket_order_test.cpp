#include "collectives/bucket_order.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace rubato::collectives {
namespace {

constexpr std::size_t block = block_elements;

void expect_buckets(const std::vector<Slice>& found, const std::vector<Slice>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].begin, expected[i].begin) << "bucket " << i;
    EXPECT_EQ(found[i].size, expected[i].size) << "bucket " << i;
  }
}

TEST(BucketOrder, BucketsComeFromTheEnd) {
  expect_buckets(buckets_of({0, 5 * block + 7}, 2),
                 {{4 * block, block + 7}, {2 * block, 2 * block}, {block, block}, {0, block}});
}

TEST(BucketOrder, BucketsBecomeShorterTowardsTheBeginningOfTheArray) {
  expect_buckets(buckets_of({0, 14 * block}, 6), {{12 * block, 2 * block},
                                                  {6 * block, 6 * block},
                                                  {3 * block, 3 * block},
                                                  {block, 2 * block},
                                                  {0, block}});
  expect_buckets(buckets_of({0, 4 * block}, 6),
                 {{3 * block, block}, {block, 2 * block}, {0, block}});
  // Not towards that of a slice, which is no later than the slice before it.
  expect_buckets(buckets_of({6 * block, 8 * block}, 6),
                 {{12 * block, 2 * block}, {6 * block, 6 * block}});
}

TEST(BucketOrder, WhatIsLeftOutIsInNoneAndEndsOne) {
  const std::vector<Slice> gaps = {{block, block}, {4 * block, 3 * block}};
  expect_buckets(buckets_of({0, 9 * block + 5}, 2, gaps),
                 {{8 * block, block + 5}, {7 * block, block}, {2 * block, 2 * block}, {0, block}});
  // Of a slice that begins and ends within gaps, and of one within a gap.
  expect_buckets(buckets_of({5 * block, 3 * block}, 2, gaps), {{7 * block, block}});
  expect_buckets(buckets_of({block, 4 * block}, 4, gaps), {{2 * block, 2 * block}});
  expect_buckets(buckets_of({5 * block, block}, 2, gaps), {});
}

TEST(BucketOrder, AnEmptySliceHasNone) { expect_buckets(buckets_of({}, 4), {}); }

TEST(BucketOrder, ABucketHasBlocks) { EXPECT_THROW(buckets_of({0, 10}, 0), std::invalid_argument); }

}  // namespace
}  // namespace rubato::collectives
