// See epoch_order.hpp.
//
// torch    MT19937, then for i = 0 ... n-2: swap a[i] with a[i + next() mod (n - i)]. This is
// torch.randperm on the CPU below
//          (2^32 - 1) / 20 samples. As there, (seed, epoch + 1) and (seed + 1, epoch) give the same
//          order.
// feistel  A balanced Feistel network permutes the 4^h numbers that just cover n; a number beyond n
// is sent through again
//          until it falls below n (cycle walking: Black and Rogaway, doi:10.1007/3-540-45760-7_9;
//          at most 4 rounds trips on average). Round keys come from Philox4x32-10
//          (doi:10.1145/2063384.2063405) keyed with the seed, so neighbouring seeds and epochs
//          share nothing. It mixes well; it is no cipher.
#include "data/epoch_order.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace rubato::data {
namespace {

constexpr std::uint64_t most_torch_samples = 0xffffffffU / 20;

std::vector<std::uint32_t> torch_permutation(std::uint32_t samples, std::uint64_t seed) {
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 generator(static_cast<std::uint32_t>(seed));
  for (std::uint32_t i = 0; i + 1 < samples; ++i) {
    const auto jump = static_cast<std::uint32_t>(generator()) % (samples - i);
    std::swap(order[i], order[i + jump]);
  }
  return order;
}

// The finaliser of SplitMix64 (doi:10.1145/2660193.2660195).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

class FeistelPermutation {
 public:
  FeistelPermutation(std::uint64_t samples, std::uint64_t seed, std::uint64_t epoch)
      : samples_(samples) {
    const unsigned bits = samples < 2 ? 2 : static_cast<unsigned>(std::bit_width(samples - 1));
    half_bits_ = (bits + 1) / 2;
    half_mask_ = (std::uint64_t{1} << half_bits_) - 1;
    const r123::Philox4x32::key_type key = {low(seed), high(seed)};
    for (std::uint32_t pair = 0; pair < rounds / 2; ++pair) {
      const auto words = r123::Philox4x32{}({low(epoch), high(epoch), pair, stream}, key);
      keys_[2 * pair] = words[0] | std::uint64_t{words[1]} << 32U;
      keys_[2 * pair + 1] = words[2] | std::uint64_t{words[3]} << 32U;
    }
  }

  std::uint64_t operator()(std::uint64_t position) const {
    do {
      position = network(position);
    } while (position >= samples_);
    return position;
  }

 private:
  static constexpr std::uint32_t rounds = 8;
  static constexpr std::uint32_t stream =
      0x6f726465;  // "orde": apart from all other uses of Philox
  static std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32U); }

  std::uint64_t network(std::uint64_t x) const {
    std::uint64_t left = x >> half_bits_;
    std::uint64_t right = x & half_mask_;
    for (const std::uint64_t key : keys_) {
      left = std::exchange(right, left ^ (mixed(right + key) & half_mask_));
    }
    return left << half_bits_ | right;
  }

  std::uint64_t samples_;
  unsigned half_bits_ = 1;
  std::uint64_t half_mask_ = 1;
  std::array<std::uint64_t, rounds> keys_{};
};

}  // namespace

OrderKind order_kind(const std::string& name) {
  if (name == "torch") return OrderKind::torch;
  if (name == "feistel") return OrderKind::feistel;
  if (name == "sequential") return OrderKind::sequential;
  throw std::invalid_argument("order: found \"" + name +
                              "\", expected torch, feistel or sequential");
}

std::string to_string(OrderKind kind) {
  if (kind == OrderKind::sequential) return "sequential";
  return kind == OrderKind::torch ? "torch" : "feistel";
}

EpochOrder::EpochOrder(OrderKind kind, std::uint64_t samples, std::uint64_t seed,
                       std::uint64_t epoch)
    : kind_(kind), samples_(samples), seed_(seed), epoch_(epoch) {
  if (kind != OrderKind::torch) return;
  if (samples >= most_torch_samples) {
    throw std::invalid_argument("order torch: found " + std::to_string(samples) +
                                " samples, expected fewer than " +
                                std::to_string(most_torch_samples) + "; use order feistel");
  }
  permutation_ = torch_permutation(static_cast<std::uint32_t>(samples), seed + epoch);
}

void EpochOrder::read(std::uint64_t begin, std::span<std::uint64_t> out) const {
  if (begin > samples_ || out.size() > samples_ - begin) {
    throw std::out_of_range("epoch order: found positions " + std::to_string(begin) + " to " +
                            std::to_string(begin + out.size()) + ", expected at most " +
                            std::to_string(samples_));
  }
  if (kind_ == OrderKind::torch) {
    std::copy_n(permutation_.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
    return;
  }
  if (kind_ == OrderKind::sequential) {
    std::iota(out.begin(), out.end(), begin);
    return;
  }
  const FeistelPermutation permutation(samples_, seed_, epoch_);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = permutation(begin + i);
}

}  // namespace rubato::data
