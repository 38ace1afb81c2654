#include "optim/measured_pieces.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace rubato::optim {
namespace {

// A large tensor between small ones: 17 segments, the first of 3072 elements, the last of 1040.
constexpr std::size_t large_begin = 1024, large_size = 3072 + 15 * 4096 + 1040;
constexpr std::size_t large_end = large_begin + large_size, elements = large_end + 8192;
static_assert(large_size > most_elements_measured_whole);

TensorSegments example_segments() {
  const std::vector<TensorRange> tensors = {
      {"bias", 0, 1020}, {"weight", large_begin, large_size - 7}, {"next", large_end, 8192}};
  return {tensors, elements};
}

MeasuredPieces measured_pieces(const TensorSegments& segments, std::size_t segment,
                               std::uint64_t update) {
  MeasuredPieces pieces;
  pieces.take_turn(segments, segment, update);
  return pieces;
}

// Where in the segment its elements are that are measured.
std::vector<std::size_t> places_of(const MeasuredPieces& pieces) {
  std::vector<std::size_t> places(pieces.size);
  std::iota(places.begin(), places.end(), 0);
  if (pieces.is_whole()) return places;
  for (std::size_t i = 0; i < pieces.size; ++i) places[i] = pieces.begins[i / 16] + i % 16;
  return places;
}

// How often each element counts in so many updates.
std::vector<double> counts(const std::vector<std::uint64_t>& updates) {
  const TensorSegments segments = example_segments();
  std::vector<double> all(elements);
  for (const std::uint64_t update : updates) {
    for (std::size_t segment = 0; segment < segments.parameters(); ++segment) {
      const MeasuredPieces pieces = measured_pieces(segments, segment, update);
      const std::size_t begin = segments.begin_of(segment);
      for (const std::size_t i : places_of(pieces)) all[begin + i] += pieces.weight;
    }
  }
  return all;
}

TEST(MeasuredPieces, CountEachElementOnceOnAverage) {
  for (const std::uint64_t round : {0U, 5U}) {
    std::vector<std::uint64_t> updates(64);
    std::iota(updates.begin(), updates.end(), 64 * round);
    EXPECT_EQ(counts(updates), std::vector<double>(elements, 64));
  }
}

TEST(MeasuredPieces, AreAllOfSmallTensors) {
  for (std::uint64_t update = 0; update < 64; ++update) {
    const std::vector<double> found = counts({update});
    for (std::size_t i = 0; i < elements; ++i) {
      if (i >= large_begin && i < large_end) continue;
      ASSERT_EQ(found[i], 1) << i;
    }
  }
}

TEST(MeasuredPieces, AreALineInEvery1024ElementsOfALargeTensor) {
  const TensorSegments segments = example_segments();
  std::vector<double> turns(64);
  for (std::size_t segment = 2; segment < 17; ++segment) {
    const MeasuredPieces pieces = measured_pieces(segments, segment, 11);
    EXPECT_EQ(pieces.count(), 4U);
    EXPECT_EQ(pieces.size, 4 * 16U);
    EXPECT_EQ(pieces.weight, 64);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(pieces.begins[i] / 1024, i);
      EXPECT_EQ(pieces.begins[i] % line_elements, 0U);
      turns[pieces.begins[i] % 1024 / 16] += 1;
    }
  }
  // of 60: they differ, and are even
  for (const double turn : turns) EXPECT_NEAR(turn, 0.94, 1.1);
}

TEST(MeasuredPieces, AreNeverMoreThanTheMost) {
  const TensorSegments segments = example_segments();
  for (std::size_t segment = 0; segment < segments.parameters(); ++segment) {
    std::size_t most = 0;
    for (std::uint64_t update = 0; update < 128; ++update) {
      most = std::max(most, measured_pieces(segments, segment, update).size);
    }
    EXPECT_EQ(most_elements_measured(segments.all()[segment]), most) << segment;
  }
}

// As they are where each second update is compared with the one before it.
TEST(MeasuredPieces, HaveTheirTurnsAsOftenInEveryRhythm) {
  for (const std::uint64_t rhythm : {2U, 3U, 4U, 8U, 16U, 32U, 64U, 100U}) {
    std::vector<std::uint64_t> updates;
    for (std::uint64_t i = 0; i < 6400; ++i) updates.push_back(i * rhythm + 1);
    for (const double count : counts(updates)) ASSERT_NEAR(count, 6400, 640) << "every " << rhythm;
  }
}

TEST(MeasuredPieces, AreGatheredFromWhereTheyAre) {
  const TensorSegments segments = example_segments();
  for (const std::size_t segment : {0U, 4U, 17U}) {
    const MeasuredPieces pieces = measured_pieces(segments, segment, 3);
    std::vector<float> values(segments.all()[segment].size);
    std::iota(values.begin(), values.end(), 7.0F);
    std::vector<float> expected;
    for (const std::size_t i : places_of(pieces)) expected.push_back(static_cast<float>(7 + i));
    std::vector<float> found(pieces.size + 1, -1);
    pieces.gather(values, found.data());
    expected.push_back(-1);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace rubato::optim
