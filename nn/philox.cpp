// Ten rounds over eight counters at a time; the constants are table 2's of the paper named in the
// header.
#include "nn/philox.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rubato::nn {
namespace {

constexpr std::size_t lanes = 8;  // blocks computed together
constexpr std::size_t words_per_block = 4;
constexpr int rounds = 10;
constexpr std::uint64_t multiplier0 = 0xD2511F53;
constexpr std::uint64_t multiplier1 = 0xCD9E8D57;
constexpr std::uint32_t weyl0 = 0x9E3779B9;
constexpr std::uint32_t weyl1 = 0xBB67AE85;

using Words = std::array<std::uint32_t, lanes>;

struct Blocks {
  Words w0, w1, w2, w3;
};

void round(Blocks& b, std::uint32_t key0, std::uint32_t key1) {
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::uint64_t product0 = multiplier0 * b.w0[i];
    const std::uint64_t product1 = multiplier1 * b.w2[i];
    b.w0[i] = static_cast<std::uint32_t>(product1 >> 32) ^ b.w1[i] ^ key0;
    b.w2[i] = static_cast<std::uint32_t>(product0 >> 32) ^ b.w3[i] ^ key1;
    b.w1[i] = static_cast<std::uint32_t>(product1);
    b.w3[i] = static_cast<std::uint32_t>(product0);
  }
}

Blocks compute(const PhiloxStream& stream, std::uint32_t first_block) {
  Blocks b{};
  for (std::size_t i = 0; i < lanes; ++i) b.w0[i] = first_block + static_cast<std::uint32_t>(i);
  b.w1.fill(stream.counter1);
  b.w2.fill(stream.counter2);
  b.w3.fill(stream.counter3);
  auto key0 = static_cast<std::uint32_t>(stream.key);
  auto key1 = static_cast<std::uint32_t>(stream.key >> 32);
  for (int r = 0; r < rounds; ++r, key0 += weyl0, key1 += weyl1) round(b, key0, key1);
  return b;
}

void interleave(const Blocks& b, std::uint32_t* words) {
  for (std::size_t i = 0; i < lanes; ++i) {
    words[words_per_block * i] = b.w0[i];
    words[words_per_block * i + 1] = b.w1[i];
    words[words_per_block * i + 2] = b.w2[i];
    words[words_per_block * i + 3] = b.w3[i];
  }
}

}  // namespace

void fill(const PhiloxStream& stream, std::uint32_t first_block, std::span<std::uint32_t> words) {
  constexpr std::size_t group = lanes * words_per_block;
  std::size_t done = 0;
  for (; done + group <= words.size(); done += group, first_block += lanes) {
    interleave(compute(stream, first_block), words.data() + done);
  }
  if (done == words.size()) return;
  std::array<std::uint32_t, group> last;
  interleave(compute(stream, first_block), last.data());
  std::copy_n(last.begin(), words.size() - done, words.begin() + static_cast<std::ptrdiff_t>(done));
}

}  // namespace rubato::nn
