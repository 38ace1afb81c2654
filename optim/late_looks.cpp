#include "optim/late_looks.hpp"

#include <algorithm>
#include <numeric>

namespace rubato::optim {

LateLooks::LateLooks(const collectives::Topology& topology, const TensorSegments& segments)
    : segments_(segments),
      memory_(topology, topology.node().rank() == 0
                            ? 2 * most_in_place * segments.parameters() * sizeof(double)
                            : 0) {}

void LateLooks::begin(std::span<std::int64_t> largest, const GradientMeasures* measures) {
  largest_ = largest;
  measures_ = measures != nullptr && measures->weighs() ? measures : nullptr;
}

void LateLooks::show(std::size_t segment, std::size_t slot, std::span<const float> gradient,
                     bool is_in_cache) {
  if (measures_ == nullptr || segment >= segments_.parameters()) return;
  squares(weighed, slot)[segment] = measures_->weighed_square(segment, gradient, is_in_cache);
}

void LateLooks::see(std::size_t segment, std::size_t slot, double square) {
  if (segment < segments_.parameters()) squares(plain, slot)[segment] = square;
}

void LateLooks::see_largest(std::size_t segment, std::uint32_t bits) {
  std::int64_t& largest = largest_[segments_.all()[segment].tensor];
  largest = std::max(largest, static_cast<std::int64_t>(bits));
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
