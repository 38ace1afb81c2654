#include "nn/convolution_passes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/nn/passes_under_test.hpp"
#include "tests/processor_flags.hpp"

namespace rubato::nn {
namespace {

// A build that lost its wide passes would be slow, and right.
TEST(ConvolutionPasses, AreThoseOfTheWidestVectors) {
  const bool has_512_bits = rounds_once && processor_has_512_bits();
  const ConvolutionPasses* const wide = convolution_passes_of_512_bits();
  EXPECT_EQ(wide != nullptr, has_512_bits);
  EXPECT_EQ(&convolution_passes(), has_512_bits ? wide : convolution_passes_of_build());
}

TEST(ConvolutionPasses, PadTheChannelsOfOneToWholeVectors) {
  EXPECT_EQ((OneChannelShape{28, 28, 1, 5}).padded_outputs(), 16U);
  EXPECT_EQ((OneChannelShape{28, 28, 16, 5}).padded_outputs(), 16U);
  EXPECT_EQ((OneChannelShape{28, 28, 17, 5}).padded_outputs(), 32U);
}

std::vector<std::size_t> blocks(std::size_t outputs, std::size_t most) {
  std::vector<std::size_t> result;
  for (std::size_t first = 0; first < outputs; first += result.back()) {
    result.push_back(channels_in_block(first, outputs, most));
  }
  return result;
}

TEST(ConvolutionPasses, CutChannelsIntoBlocksOfAboutOneSize) {
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(blocks(20, 10), (Sizes{10, 10}));
  EXPECT_EQ(blocks(10, 10), (Sizes{10}));
  EXPECT_EQ(blocks(11, 10), (Sizes{5, 6}));
  EXPECT_EQ(blocks(23, 10), (Sizes{7, 8, 8}));
  EXPECT_EQ(blocks(3, 2), (Sizes{1, 2}));
  EXPECT_EQ(blocks(1, 7), (Sizes{1}));
}

}  // namespace
}  // namespace rubato::nn
