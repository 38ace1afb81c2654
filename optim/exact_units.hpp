// The units of the exact sum: what each tensor's gradients are rounded to, so that adding them is
// exact in any order.
//
// A minibatch gradient is rounded to a multiple of u = 2^(E-34) as (double(g) + C) - C with C = 1.5
// * 2^52 * u (pre-rounding with one bin: Demmel & Nguyen 2015, doi:10.1109/TC.2014.2345391).
// Multiples of u add without error while the sum stays below 2^53 u. E is an exponent with |g| <
// 2^E for all of the tensor's elements in the previous update, the same on all ranks, so neither
// ranks nor their order can be seen in the sum. When an update's gradients have outgrown E (the sum
// of m of them could pass 2^(E+17)) or have shrunk far below it (fewer than 24 bits would remain),
// the update is summed again with the E of its own gradients; the first update always is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rubato::optim {

class ExactUnits {
 public:
  explicit ExactUnits(std::size_t tensors);

  // The constant C for a tensor.
  double rounding_constant(std::size_t tensor) const;

  // Takes the largest magnitude of each tensor's minibatch gradients in an update, as bits of a
  // float without its sign, over all ranks, and the number of minibatches. Afterwards the exponents
  // are those of this update (an all-zero tensor keeps its own). True if the sum just made with the
  // old exponents stands; false if it must be made again with the new ones. More than
  // 2^17 minibatches take some of the 34 bits as headroom; more than 2^27 are
  // std::invalid_argument. Precondition: all magnitudes are finite.
  bool adopt(std::span<const std::uint32_t> largest_bits, std::size_t minibatches);
  // What adopt() would say, and nothing changes: who knows the magnitudes before the sum need not
  // make it to know.
  bool would_stand(std::span<const std::uint32_t> largest_bits, std::size_t minibatches) const;

  const std::vector<std::int32_t>& exponents() const noexcept { return exponents_; }
  void restore(std::vector<std::int32_t>
                   exponents);  // throws std::invalid_argument if the number of tensors differs

  static constexpr std::uint32_t infinity_bits =
      0x7f800000;  // largest_bits at or above it: inf or NaN

 private:
  std::vector<std::int32_t> exponents_;
};

}  // namespace rubato::optim
