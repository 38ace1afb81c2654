// Philox4x32-10, a counter-based random number generator: Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC'11, doi:10.1145/2063384.2063405, section 4.
//
// A block of four 32-bit words is a pure function of (key, counter): any element of any stream at
// any time, on any rank. The values are those of Random123's philox4x32, which the tests compare
// with. This form computes eight consecutive blocks at once, which compilers turn into vector code;
// Random123's computes one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace rubato::nn {

struct PhiloxStream {
  std::uint64_t key = 0;
  // The three counter words that name the stream; the first word counts its blocks.
  std::uint32_t counter1 = 0;
  std::uint32_t counter2 = 0;
  std::uint32_t counter3 = 0;
};

// Words [4 * first_block, 4 * first_block + words.size()) of the stream. Block numbers must fit 32
// bits.
void fill(const PhiloxStream& stream, std::uint32_t first_block, std::span<std::uint32_t> words);

using Words = std::span<const std::uint32_t>;

// The first `count` words of the stream in pieces that stay in the nearest cache: calls
// use(place of the piece's first word, words) for each.
template <typename Use>
void for_each_piece(const PhiloxStream& stream, std::size_t count, Use use) {
  std::array<std::uint32_t, 1024> words;
  for (std::size_t done = 0; done < count; done += words.size()) {
    const std::span<std::uint32_t> piece(words.data(), std::min(words.size(), count - done));
    fill(stream, static_cast<std::uint32_t>(done / 4), piece);
    use(done, Words(piece));
  }
}

}  // namespace rubato::nn
