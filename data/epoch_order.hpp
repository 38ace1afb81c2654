// The order in which an epoch visits the samples: a permutation that depends on (seed, epoch)
// alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rubato::data {

enum class OrderKind {
  torch,  // torch.randperm on MT19937 seeded with the low 32 bits of seed + epoch: the reference's
          // data order
  feistel,  // a keyed permutation computed position by position in O(1) memory, for sets too large
            // to permute
  sequential  // as the data set has them, in every epoch
};

OrderKind order_kind(const std::string& name);  // throws std::invalid_argument
std::string to_string(OrderKind kind);

class EpochOrder {
 public:
  EpochOrder(OrderKind kind, std::uint64_t samples, std::uint64_t seed, std::uint64_t epoch);

  std::uint64_t size() const noexcept { return samples_; }
  // The samples at positions [begin, begin + out.size()). Precondition: within size().
  void read(std::uint64_t begin, std::span<std::uint64_t> out) const;

 private:
  OrderKind kind_;
  std::uint64_t samples_;
  std::uint64_t seed_;
  std::uint64_t epoch_;
  std::vector<std::uint32_t> permutation_;  // torch only
};

}  // namespace rubato::data
