#include "nn/philox.hpp"

#include <gtest/gtest.h>

#include <Random123/philox.h>

#include <numeric>
#include <vector>

namespace rubato::nn {
namespace {

std::vector<std::uint32_t> random123(const PhiloxStream& stream, std::uint32_t first_block,
                                     std::size_t words) {
  std::vector<std::uint32_t> result;
  const r123::Philox4x32 generator;
  const r123::Philox4x32::key_type key = {
      {static_cast<std::uint32_t>(stream.key), static_cast<std::uint32_t>(stream.key >> 32)}};
  for (std::uint32_t block = first_block; result.size() < words; ++block) {
    const r123::Philox4x32::ctr_type counter = {
        {block, stream.counter1, stream.counter2, stream.counter3}};
    for (const std::uint32_t word : generator(counter, key)) result.push_back(word);
  }
  result.resize(words);
  return result;
}

constexpr PhiloxStream stream{0x0123456789ABCDEF, 7, 0xFFFFFFFF, 0x80000001};

TEST(Philox, GivesTheValuesOfRandom123ForAnyCountAndStart) {
  std::vector<std::size_t> counts(70);
  std::iota(counts.begin(), counts.end(), std::size_t{1});
  for (const std::size_t count : counts) {
    for (const std::uint32_t first_block : {0U, 5U, 0xFFFFFF00U}) {
      std::vector<std::uint32_t> words(count);
      fill(stream, first_block, words);
      ASSERT_EQ(words, random123(stream, first_block, count)) << count << " from " << first_block;
    }
  }
}

TEST(Philox, WritesNothingBehindTheEnd) {
  std::vector<std::uint32_t> words(40, 123);
  fill(stream, 0, std::span(words).first(37));
  EXPECT_EQ(words[37], 123U);
  EXPECT_EQ(words[39], 123U);
}

TEST(Philox, EachPartOfTheStreamsNameMatters) {
  const auto first_word = [](const PhiloxStream& named) {
    std::vector<std::uint32_t> words(1);
    fill(named, 0, words);
    return words[0];
  };
  const std::uint32_t base = first_word({1, 2, 3, 4});
  EXPECT_NE(base, first_word({1 + (std::uint64_t{1} << 32), 2, 3, 4}));
  EXPECT_NE(base, first_word({2, 2, 3, 4}));
  EXPECT_NE(base, first_word({1, 3, 3, 4}));
  EXPECT_NE(base, first_word({1, 2, 4, 4}));
  EXPECT_NE(base, first_word({1, 2, 3, 5}));
}

}  // namespace
}  // namespace rubato::nn
