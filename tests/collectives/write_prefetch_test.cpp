#include "collectives/write_prefetch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rubato::collectives {
namespace {

TEST(WriteInPieces, HandsOutEachElementOnceInOrder) {
  for (const std::size_t size : {0U, 1U, 1023U, 1024U, 1025U, 2500U}) {
    std::vector<float> target(size);
    std::size_t next = 0;
    write_in_pieces(std::span(target), [&](std::size_t begin, std::span<float> piece) {
      EXPECT_EQ(begin, next);
      EXPECT_EQ(piece.data(), target.data() + begin);
      EXPECT_LE(piece.size_bytes(), 4096U);
      next += piece.size();
    });
    EXPECT_EQ(next, size);
  }
}

}  // namespace
}  // namespace rubato::collectives
