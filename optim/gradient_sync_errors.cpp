// Whether a sum may be used: what can be seen of it before it is made, and what is said after.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "optim/gradient_sync.hpp"

namespace rubato::optim {

namespace {

constexpr const char* divergence_advice =
    " is not finite: training has diverged (a lower learning rate, or a warm-up, may help)";

}  // namespace

void GradientSync::look_ahead() {
  if (use_ == nullptr) return;
  take_largest();
  if (!is_certain()) return;
  is_used_ = true;
  use_->begin();
}

// What is finite here stays so: in double a sum cannot overflow, and no mean is larger than the
// largest of what it is the mean of.
bool GradientSync::is_certain() const {
  const UpdateSums sums = add_slots();
  if (sums.samples != samples_ || !std::isfinite(sums.loss_sum)) return false;
  const std::uint32_t largest = *std::ranges::max_element(largest_bits_);
  if (largest >= ExactUnits::infinity_bits) return false;
  if (kind_ == SumKind::exact) return units_.would_stand(largest_bits_, minibatches_);
  return std::bit_cast<float>(largest) <
         std::numeric_limits<float>::max() / (2 * static_cast<float>(minibatches_));
}

// Over the node's ranks, whose first speaks for all nodes once the tables are combined.
void GradientSync::take_largest() {
  std::ranges::fill(largest_bits_, 0U);
  std::int64_t request = 0;
  for (std::size_t rank = 0; rank < topology_.node().size(); ++rank) {
    const std::span<const std::int64_t> largest = tables_.largest_of(rank);
    for (std::size_t i = 0; i < largest_bits_.size(); ++i) {
      largest_bits_[i] = std::max(largest_bits_[i], static_cast<std::uint32_t>(largest[i]));
    }
    request = std::max(request, largest.back());
  }
  request_ = static_cast<std::uint64_t>(request);
}

void GradientSync::require_finite_gradients() const {
  for (std::size_t tensor = 0; tensor < tensors_.size(); ++tensor) {
    if (largest_bits_[tensor] < ExactUnits::infinity_bits) continue;
    throw NonFiniteGradient("the gradient of " + tensors_[tensor].name + divergence_advice);
  }
}

void GradientSync::require_finite(const UpdateSums& sums) const {
  const bool is_loss_finite = std::isfinite(sums.loss_sum);
  if (is_loss_finite && std::isfinite(sums.gradient.mean_square)) return;
  throw NonFiniteGradient(std::string("the ") + (is_loss_finite ? "mean gradient" : "loss") +
                          divergence_advice);
}

}  // namespace rubato::optim
