// Ten rounds over eight counters at a time; the constants are table 2's of the paper named in the
// header.
//
// A word lies in the lower half of a 64-bit slot. A product then needs no unpacking, and what it
// leaves in the upper half harms nobody: products read lower halves alone.
#include "nn/philox.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace rubato::nn {
namespace {

#ifdef __AVX2__
constexpr std::size_t slots = 4;  // of a vector
#else
constexpr std::size_t slots = 2;
#endif
constexpr std::size_t blocks_at_once = 8;  // in several vectors, which hides a product's latency
constexpr std::size_t vectors = blocks_at_once / slots;
constexpr std::size_t words_per_block = 4;
constexpr int rounds = 10;
constexpr std::uint64_t multiplier0 = 0xD2511F53;
constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
constexpr std::uint32_t weyl0 = 0x9E3779B9;
constexpr std::uint32_t weyl1 = 0xBB67AE85;

using Slots [[gnu::vector_size(slots * sizeof(std::uint64_t))]] = std::uint64_t;

struct Blocks {
  Slots w0, w1, w2, w3;
};

// The full product of the lower halves and a 32-bit number.
inline Slots product(Slots values, std::uint64_t multiplier) {
#ifdef __AVX2__
  const __m256i right = _mm256_set1_epi64x(static_cast<long long>(multiplier));
  return reinterpret_cast<Slots>(_mm256_mul_epu32(reinterpret_cast<__m256i>(values), right));
#else
  return (values & 0xFFFFFFFFU) * multiplier;
#endif
}

inline void round(Blocks& b, std::uint32_t key0, std::uint32_t key1) {
  const Slots product0 = product(b.w0, multiplier0);
  const Slots product1 = product(b.w2, multiplier1);
  b.w0 = (product1 >> 32U) ^ b.w1 ^ key0;
  b.w2 = (product0 >> 32U) ^ b.w3 ^ key1;
  b.w1 = product1;
  b.w3 = product0;
}

// Four words of each block, block after block.
inline void interleave(const Blocks& b, std::uint32_t* words) {
  const Slots first = (b.w0 & 0xFFFFFFFFU) | (b.w1 << 32U);
  const Slots second = (b.w2 & 0xFFFFFFFFU) | (b.w3 << 32U);
  for (std::size_t i = 0; i < slots; ++i) {
    const std::uint64_t pairs[] = {first[i], second[i]};
    std::memcpy(words + words_per_block * i, pairs, sizeof pairs);
  }
}

// Eight blocks.
void compute(const PhiloxStream& stream, std::uint32_t first_block, std::uint32_t* words) {
  std::array<Blocks, vectors> blocks;
  for (std::size_t v = 0; v < vectors; ++v) {
    Blocks& b = blocks[v];
    for (std::size_t i = 0; i < slots; ++i) {
      b.w0[i] = first_block + static_cast<std::uint32_t>(v * slots + i);
    }
    b.w1 = Slots{} + stream.counter1;
    b.w2 = Slots{} + stream.counter2;
    b.w3 = Slots{} + stream.counter3;
  }
  auto key0 = static_cast<std::uint32_t>(stream.key);
  auto key1 = static_cast<std::uint32_t>(stream.key >> 32);
  for (int r = 0; r < rounds; ++r, key0 += weyl0, key1 += weyl1) {
    for (Blocks& b : blocks) round(b, key0, key1);
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    interleave(blocks[v], words + v * slots * words_per_block);
  }
}

}  // namespace

void fill(const PhiloxStream& stream, std::uint32_t first_block, std::span<std::uint32_t> words) {
  constexpr std::size_t group = blocks_at_once * words_per_block;
  std::size_t done = 0;
  for (; done + group <= words.size(); done += group, first_block += blocks_at_once) {
    compute(stream, first_block, words.data() + done);
  }
  if (done == words.size()) return;
  std::array<std::uint32_t, group> last;
  compute(stream, first_block, last.data());
  std::copy_n(last.begin(), words.size() - done, words.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace rubato::nn
