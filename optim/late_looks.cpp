#include "optim/late_looks.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace rubato::optim {

LateLooks::LateLooks(const collectives::Topology& topology, const TensorSegments& segments)
    : segments_(segments),
      memory_(topology, topology.node().rank() == 0 ? 2 * NodeGradients::most_places *
                                                          segments.parameters() * sizeof(double)
                                                    : 0) {}

void LateLooks::begin(std::span<std::int64_t> largest, const GradientMeasures* measures) {
  largest_ = largest;
  measures_ = measures != nullptr && measures->weighs() ? measures : nullptr;
}

void LateLooks::show(std::size_t segment, std::span<const std::size_t> slots,
                     std::span<const float* const> gradients, bool is_in_cache) {
  if (measures_ == nullptr || segment >= segments_.parameters()) return;
  std::array<double, NodeGradients::most_places> found;
  measures_->weigh(segment, gradients, is_in_cache, found);
  for (std::size_t i = 0; i < slots.size(); ++i) squares(weighed, slots[i])[segment] = found[i];
}

void LateLooks::see(std::size_t segment, std::span<const std::size_t> slots,
                    std::span<const double> squares_found, std::uint32_t largest_bits) {
  std::int64_t& largest = largest_[segments_.all()[segment].tensor];
  largest = std::max(largest, static_cast<std::int64_t>(largest_bits));
  if (segment >= segments_.parameters()) return;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    squares(plain, slots[i])[segment] = squares_found[i];
  }
}

double LateLooks::square(std::size_t slot) const {
  return segments_.sum_by_blocks(squares(plain, slot));
}

double LateLooks::weighed_square(std::size_t slot) const {
  const std::span<const double> all = squares(weighed, slot);
  return measures_ == nullptr ? 0 : std::accumulate(all.begin(), all.end(), 0.0);
}

std::span<double> LateLooks::squares(Kind kind, std::size_t slot) const {
  const std::size_t size = segments_.parameters();
  return memory_.region_as<double>(0).subspan((2 * slot + kind) * size, size);
}

}  // namespace rubato::optim
