#include "optim/tensor_segments.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tests/optim/synthetic_gradients.hpp"

namespace rubato::optim {
namespace {

std::vector<std::size_t> begins(std::span<const Segment> segments) {
  std::vector<std::size_t> all;
  for (const Segment& segment : segments) all.push_back(segment.begin);
  return all;
}

TEST(TensorSegments, AreWhatEachTensorHasOfEachBlock) {
  const TensorSegments segments(tensors(), total_elements);
  EXPECT_EQ(begins(segments.all()),
            (std::vector<std::size_t>{0, 4096, 5008, 8192, 12288, 13312, 16384}));
  std::size_t covered = 0;
  for (const Segment& segment : segments.all()) {
    EXPECT_EQ(segment.begin, covered);
    covered += segment.size;
    EXPECT_EQ(segment.ends_block, covered % 4096 == 0) << "segment at " << segment.begin;
  }
  EXPECT_EQ(covered, total_elements);
  EXPECT_EQ(segments.parameters(), 5U);
  EXPECT_EQ(segments.all()[1].tensor, 0U);
  EXPECT_EQ(segments.all()[2].tensor, 1U);
  EXPECT_EQ(segments.all()[6].tensor, 2U);
  EXPECT_EQ(segments.all()[1].tensor_size, 5008U);
  EXPECT_EQ(segments.all()[6].tensor_size, 4096U);
}

TEST(TensorSegments, KnowThoseOfABlock) {
  const TensorSegments segments(tensors(), total_elements);
  EXPECT_EQ(begins(segments.of_block(0)), (std::vector<std::size_t>{0}));
  EXPECT_EQ(begins(segments.of_block(4096)), (std::vector<std::size_t>{4096, 5008}));
  EXPECT_EQ(begins(segments.of_block(12288)), (std::vector<std::size_t>{12288, 13312}));
  EXPECT_EQ(begins(segments.of_block(16384)), (std::vector<std::size_t>{16384}));
}

TEST(TensorSegments, BeginSomewhereAndEndWithTheLast) {
  const TensorSegments segments(tensors(), total_elements);
  EXPECT_EQ(segments.begin_of(2), 5008U);
  EXPECT_EQ(segments.begin_of(7), total_elements);
  EXPECT_EQ(TensorSegments({}, 0).begin_of(0), 0U);
}

TEST(TensorSegments, RefuseTensorsThatAreNotPadded) {
  const std::vector<TensorRange> unpadded{{"a", 0, 5, true, 0}, {"b", 12, 4, true, 0}};
  EXPECT_THROW(TensorSegments(unpadded, 16), std::logic_error);
  const std::vector<TensorRange> to_half_a_line{{"a", 0, 5, true, 0}, {"b", 8, 8, true, 0}};
  EXPECT_THROW(TensorSegments(to_half_a_line, 16), std::logic_error);
}

}  // namespace
}  // namespace rubato::optim
