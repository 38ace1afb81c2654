// What some runs measure of an update's gradients beyond norms: each tensor apart, in the metric of
// the optimizer, against a gradient that was kept. All of it is taken while the gradient is in
// cache, travels in the update's one reduction, and is the same on any number of ranks.
//
//   per tensor       a sum of |g_i|^2 / b_i over the minibatches: two doubles a tensor over the
//                    network (exact_pair.hpp), the norms that the gradient's pass makes anyway
//   preconditioned   of small tensors all, of large ones a part in turn (measured_pieces.hpp):
//                    1 / P of the update before, made by the slices' owners, read beside each
//                    gradient
//   kept gradient    read beside the mean of an update of one minibatch: 4 bytes an element
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/node_memory.hpp"
#include "collectives/topology.hpp"
#include "optim/exact_pair.hpp"
#include "optim/exact_units.hpp"
#include "optim/gradient_noise.hpp"
#include "optim/measured_pieces.hpp"
#include "optim/preconditioner.hpp"
#include "optim/tensor_segments.hpp"

namespace rubato::optim {

struct MeasureOptions {
  bool per_tensor = false;
  const Preconditioner<float>* preconditioner = nullptr;
  std::span<const float> preconditioner_state = {};  // its buffer: node-shared, of all parameters
  std::span<const float> kept_gradient = {};         // likewise
};

class GradientMeasures {
 public:
  // Collective. `segments`, whose tensors are given, and what the options name must outlive this.
  GradientMeasures(const collectives::Topology& topology, const TensorSegments& segments,
                   std::span<const TensorRange> tensors, MeasureOptions options);

  // The optimizer's scales of this rank's slice have changed; nobody may measure before the node
  // has passed a barrier.
  void take_scales();
  // Whether they are settled, but those that were taken are not of the last update.
  bool lacks_scales() const;

  // A new update begins. With `units`, sums over minibatches are exact.
  void begin(std::size_t minibatches, const ExactUnits* units);

  // Whether this update measures in the optimizer's metric; if so, the squared norm there of a
  // segment of a gradient, whose next one follows it. Where that is not in cache, what is measured
  // of it is fetched meanwhile.
  bool weighs() const noexcept { return weighs_; }
  double weighed_square(std::size_t segment, std::span<const float> gradient,
                        bool is_in_cache) const;

  // A segment of the gradient under way, of one minibatch.
  void take(std::size_t segment, std::span<const float> gradient);
  // That gradient, the sum over so many samples, is complete; `squares` of each segment. Returns
  // its squared norm in the optimizer's metric (0 where there is none).
  double finish_minibatch(std::span<const double> squares, double samples);

  // The mean gradient's elements from `begin` on, at most a norm block, by their owner.
  void take_mean(std::size_t begin, std::span<const float> mean);

  // What travels: so many doubles, summed over the node's ranks by its first, then over the nodes.
  std::size_t table_size() const noexcept { return 2 * tensor_sums_; }
  void add_up(std::span<double> table) const;

  // After the reduction, of the whole update: what the optimizer's metric makes of its facts, given
  // the sum of |gradient sum|^2 / samples in that metric. No minibatches where there is nothing
  // to observe: before the metric is settled, or of one minibatch that is compared with no other.
  GradientFacts preconditioned(const GradientFacts& plain, double square_per_sample) const;
  // Adds |p|^2 and <p, g> of the kept gradient p.
  void add_kept(GradientFacts& facts) const;
  // Each parameter tensor's facts, given the summed table; valid until the next call. None where
  // they would tell nothing: of one minibatch that is compared with no other.
  std::span<const GradientFacts> tensors(const GradientFacts& all, std::span<const double> table);

 private:
  // Of a segment of the mean gradient, p being the kept one; and in the optimizer's metric.
  struct MeanSquares {
    double square, kept_product, kept_square;
    double weighed_square, weighed_product, weighed_kept;
  };
  void invert_my_scales();
  // 1 / P of the segment's pieces, and room for more of them.
  std::span<float> scales(std::size_t segment) const;
  // In the optimizer's metric; `kept` may be empty.
  void weigh(std::size_t segment, std::span<const float> mean, std::span<const float> kept,
             MeanSquares& result) const;
  std::span<MeanSquares> means() const;
  std::span<ExactPair> pairs_of(std::size_t node_rank) const;
  bool is_settled() const;
  // An update of one minibatch tells of noise only beside one that was kept.
  bool tells() const { return minibatches_ > 1 || !options_.kept_gradient.empty(); }

  const collectives::Topology& topology_;
  const TensorSegments& segments_;
  MeasureOptions options_;
  std::size_t tensor_sums_ = 0;     // parameter tensors that are measured apart
  std::vector<std::size_t> sizes_;  // elements of each
  std::size_t minibatches_ = 0;
  const ExactUnits* units_ = nullptr;
  bool weighs_ = false;
  std::vector<double> weighed_squares_;  // of the gradient under way, of each segment
  std::vector<GradientFacts> tensor_facts_;
  std::optional<std::uint64_t> scales_after_updates_;
  std::vector<MeasuredPieces> pieces_;     // of each segment, as of these updates
  std::vector<std::size_t> scale_places_;  // where each segment's scales begin, and the last end
  collectives::NodeMemory scale_memory_;   // the first rank's region: 1 / P of what is measured of
                                           // each segment
  collectives::NodeMemory mean_memory_;    // the first rank's region: MeanSquares of each segment
  collectives::NodeMemory pair_memory_;    // per rank: the sum of each tensor
};

}  // namespace rubato::optim
