// The one reduction of an update: everything that an update needs from other ranks.
//
//   begin(m, B, k)               an update of m minibatches, numbered 0 ... m-1 ("slots"), and B
//                                samples begins; this rank runs k of them
//   accumulate(facts, gradient)  once per minibatch that this rank runs, in any order; an idle rank
//                                calls it never
//   sum()                        collective: the mean gradient and the update's scalars, the same
//                                bits on every rank
//
// On several nodes, parts of this rank's last gradient may be accumulated while it is still being
// computed (accumulate_from), and are summed over the nodes meanwhile. Gradients of dense layers
// may travel as factors instead (factor_plan.hpp), where that is faster.
//
// Of an update of a few minibatches on one node, owners look at the gradients (late_looks.hpp), of
// others each rank at its own.
//
// Gradients are added as gradient_accumulator.hpp says, then over the ranks by a SliceReducer, and
// divided once by the batch size (running statistics: by the number of minibatches). Scalars of a
// minibatch (loss, squared norm) travel in the slot of that minibatch, which one rank fills, and
// are added in slot order. Norms of the mean gradient are sums over fixed blocks, added in block
// order. So no number depends on which rank ran what.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/mapped_memory.hpp"
#include "collectives/node_barrier.hpp"
#include "collectives/node_memory.hpp"
#include "collectives/slice_reducer.hpp"
#include "collectives/topology.hpp"
#include "optim/agreed_way.hpp"
#include "optim/exact_units.hpp"
#include "optim/factor_exchange.hpp"
#include "optim/gradient_accumulator.hpp"
#include "optim/gradient_measures.hpp"
#include "optim/gradient_noise.hpp"
#include "optim/late_looks.hpp"
#include "optim/node_gradients.hpp"
#include "optim/norm_block.hpp"
#include "optim/rank_gradients.hpp"
#include "optim/tensor_segments.hpp"
#include "optim/update_tables.hpp"

namespace rubato::optim {

// What a rank says of one minibatch that it ran.
struct SubstepFacts {
  std::size_t slot = 0;  // which of the update's minibatches
  std::size_t samples = 0;
  double loss_sum = 0;      // over the samples
  std::size_t correct = 0;  // samples classified right
  std::uint64_t audit = 0;  // which samples they were, as the caller counts it: below 2^52
};

// What every rank knows after the reduction.
struct UpdateSums {
  bool stands = true;    // false: the units of the exact sum were wrong; begin() again and run the
                         // substeps again
  bool is_used = false;  // the caller's MeanUse has been told all of the mean gradient
  double loss_sum = 0;
  std::uint64_t samples = 0;
  std::uint64_t correct = 0;
  GradientFacts gradient;        // |mean gradient|^2 and the minibatches' weighted squares
  GradientFacts preconditioned;  // the same in the optimizer's metric, where that is measured
  std::span<const GradientFacts> tensors;  // of each parameter tensor, where that is measured;
                                           // valid until the next sum
};

// A gradient or the loss has an inf or a NaN. The sentence names the tensor.
class NonFiniteGradient : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Uses the mean gradient block by block, each while it is in cache and the later ones are not yet
// summed: what saves writing it down. Where a rank can see before it adds that the sum will stand
// and be finite: on one node, of gradients that have been looked at.
class MeanUse {
 public:
  virtual ~MeanUse() = default;
  virtual void begin() = 0;  // once, on every rank, before the first block
  // Elements from `begin` on of my_slice(), parameters and running statistics.
  virtual void take(std::size_t begin, std::span<const float> mean) = 0;
};

class GradientSync {
 public:
  // Collective. `tensors` as in tensor_segments.hpp; `parameter_elements` of the `total_elements`
  // are parameters. The topology must outlive this.
  GradientSync(const collectives::Topology& topology, std::vector<TensorRange> tensors,
               std::size_t parameter_elements, std::size_t total_elements, SumKind kind,
               collectives::AllreduceAlgorithm algorithm);
  GradientSync(const GradientSync&) = delete;
  GradientSync& operator=(const GradientSync&) = delete;

  // Collective, before the first begin(): what else to measure of gradients. take_scales() says
  // that the optimizer has updated this rank's slice.
  void measure(const MeasureOptions& options);
  void take_scales() {
    if (measures_) measures_->take_scales();
  }

  // Has every block of the mean gradient's parameters shown to `watch`, from `begin` on, with its
  // squared norm, while it is in cache: on each node, by the owner of the block.
  using MeanWatch =
      std::function<void(std::size_t begin, std::span<const float> mean, double square)>;
  void show_mean_to(MeanWatch watch) { mean_watch_ = std::move(watch); }

  // Collective. Makes room for updates of so many minibatches, so that begin() need not.
  void reserve(std::size_t minibatches);

  // Collective, before the first begin(): gradients of these tensors, in order, may travel as
  // factors, of which `multiply` makes them: on several nodes, by the automatic algorithm, in exact
  // sums. Whether that is so here says has_factors().
  void allow_factors(std::vector<FactoredTensor> tensors, MultiplyFactors multiply);
  bool has_factors() const noexcept { return factors_ != nullptr; }

  // Collective the first time that an update has more minibatches than any before (the slots grow),
  // or, where factors may travel, one of another size; over the node, of a state that was put in.
  // `samples` of the whole update must equal what the ranks are about to run; `mine` is how many of
  // the minibatches this rank runs, where it knows, and `most` how many the rank with the most of
  // them, where all know; `runs` who runs which, where factors may travel.
  void begin(std::size_t minibatches, std::uint64_t samples,
             std::size_t mine = RankGradients::any_number,
             std::size_t most = RankGradients::any_number, std::span<const MinibatchRun> runs = {});

  // Between begin() and sum(), which may write the mean there: a place for this rank's next
  // gradient, total_elements long, another one after each accumulate(). If the rank has at most
  // four (with the fast sum three, with private sums two), gradients computed there stay there; of
  // more, the last one or two do, and those before them are added two at a time. A rank that
  // computes apart has one place for all gradients of an update in which no rank looks at its own.
  std::span<float> gradient() const {
    return computes_apart_ && looks_late_ ? apart() : mine_->place();
  }

  // Makes room for a gradient apart from what other ranks read, if there are updates for it. Throws
  // std::system_error where there is no memory.
  void allow_apart();
  // Whether to compute there, where that is allowed, from the next begin() on. accumulate() then
  // hands the others their slices past the cache: a copy more, which is faster where the cores
  // share no cache, as a backward pass waits at each line that another core has read.
  void compute_apart(bool apart) { computes_apart_ = apart && !apart_memory_.bytes().empty(); }

  // `gradient` is the SUM over the minibatch's samples, total_elements long, padding zero.
  void accumulate(const SubstepFacts& facts, std::span<const float> gradient);

  // Of each of this rank's minibatches, before it is accumulated, those of every tensor that may
  // travel so, the last one's first. Only if has_factors(). Never waits.
  void take_factors(const Factors& factors) { factors_->send(factors); }

  // Whether accumulate_from() is of any use: it is not on one node, where the sum needs no network.
  bool overlaps() const {
    return std::visit([](const auto& reducer) { return reducer->overlaps(); }, reducer_);
  }
  // In the rank's last minibatch of the update, and followed by accumulate() for it: of `gradient`,
  // what is from `from` on is final. Never waits. Of use for gradients in their place.
  void accumulate_from(std::size_t from, std::span<const float> gradient);

  // Collective. `request` is a number of the caller's that travels along, `note` some more; `use`,
  // if given, is told the mean gradient where that can be, on all ranks or none. Throws
  // NonFiniteGradient on every rank alike, and std::logic_error if the ranks ran other samples than
  // begin() was told; then `use` was told nothing. Nobody may begin() before every rank has passed
  // barrier() once more, after a throw too.
  UpdateSums sum(std::uint64_t request = 0, const RankNote& note = {}, MeanUse* use = nullptr);

  // When what happened in the last sum, whether it stands or not.
  const collectives::SumTimes& sum_times() const {
    return std::visit(
        [](const auto& reducer) -> const auto& { return reducer->times(); }, reducer_);
  }

  // The audit of each minibatch of the update last summed, in order; valid until the next begin().
  std::span<const std::uint64_t> audits() const { return audits_; }
  // The request of the update last summed, also if sum() threw NonFiniteGradient.
  std::uint64_t request() const noexcept { return request_; }
  // The note of each rank to the sum before, likewise; valid until the next begin().
  std::span<const RankNote> notes() const { return notes_; }

  // The mean gradient (running statistics: the minibatches' mean statistics) of the update last
  // summed, unless it was used: of my_slice(), at its place in the flat buffer. Valid until the
  // next begin().
  std::span<const float> mean_gradient() const { return gradients_.first_place(); }
  collectives::Slice my_slice() const { return topology_.my_slice(total_elements_); }
  void barrier() {
    barrier_.wait();
  }  // over the node: after the owners' writes, before anyone reads them

  SumKind kind() const noexcept { return kind_; }
  ExactUnits& units() noexcept { return units_; }
  const ExactUnits& units() const noexcept { return units_; }
  const collectives::Topology& topology() const noexcept { return topology_; }
  const std::vector<TensorRange>& tensors() const noexcept { return tensors_; }
  const TensorSegments& segments() const noexcept { return segments_; }
  std::size_t parameter_elements() const noexcept { return parameter_elements_; }
  std::size_t total_elements() const noexcept { return total_elements_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Reducer = std::variant<std::unique_ptr<collectives::SliceReducer<double>>,
                               std::unique_ptr<collectives::SliceReducer<float>>>;
  template <class T>
  void make_reducer(collectives::AllreduceAlgorithm algorithm);
  template <class T>
  void begin(collectives::SliceReducer<T>& reducer);
  void begin_factors(std::span<const MinibatchRun> runs);
  bool multiply_factors();
  void take_time();
  // The addends of all ranks of the node are final, and what they say besides.
  void all_are_in();
  // Begins the use of the mean if the outcome is certain: the addends of all ranks are final.
  void look_ahead();
  bool is_certain() const;
  // Makes the mean of a block and measures it: of parameters sum * per_sample, of running
  // statistics sum * per_minibatch.
  template <class T>
  void make_mean(std::size_t begin, std::span<const T> sum, T per_sample, T per_minibatch);
  // The same of a block of the node's gradients, from the start.
  template <class T>
  void make_block(std::span<const T* const> addends, std::size_t begin, std::size_t size);
  // The mean of a block's parameters, which has just been made.
  void note_mean(std::size_t begin, std::span<const float> mean, double square) {
    block_squares()[begin / norm_block_elements] = square;
    if (measures_) measures_->take_mean(begin, mean);
    if (mean_watch_) mean_watch_(begin, mean, square);
  }
  void require_finite(const UpdateSums& sums) const;
  void take_largest();
  void require_finite_gradients() const;
  UpdateSums add_slots() const;
  void add_measures(UpdateSums& sums);
  std::size_t measured_numbers() const { return measures_ ? measures_->table_size() : 0; }
  // Whether some updates need no rank to look at its own gradients: their owners see them all.
  bool may_look_late() const { return sees_all_gradients_ && measured_numbers() == 0; }

  std::span<float> apart() const {
    return {reinterpret_cast<float*>(apart_memory_.bytes().data()), total_elements_};
  }
  std::span<double> block_squares() const;
  // Squared norm of a slot's gradient: as it is; in the optimizer's metric.
  double square_of(std::size_t slot) const {
    return looks_late_ ? late_looks_.square(slot) : tables_.slots()[slot].gradient_square;
  }
  double weighed_square_of(std::size_t slot) const {
    return looks_late_ ? late_looks_.weighed_square(slot) : tables_.slots()[slot].weighed_square;
  }

  const collectives::Topology& topology_;
  std::vector<TensorRange> tensors_;
  TensorSegments segments_;
  std::size_t parameter_elements_;
  std::size_t total_elements_;
  SumKind kind_;
  bool is_automatic_;
  ExactUnits units_;
  NodeGradients gradients_;
  LateLooks late_looks_;
  collectives::NodeBarrier barrier_;
  Reducer reducer_;
  std::optional<GradientAccumulator> accumulator_;
  std::optional<RankGradients> mine_;
  std::unique_ptr<FactorExchange> factors_;
  AgreedWay by_factors_or_sums_;
  bool is_timed_ = false;  // this update went one of these ways
  Clock::time_point begun_;
  std::int64_t nanoseconds_ = 0;  // of the last one that did
  std::optional<GradientMeasures> measures_;
  MeanWatch mean_watch_;
  collectives::NodeMemory
      square_memory_;  // the first rank's region: squared norm of each block of the mean gradient
  UpdateTables tables_;
  bool sees_all_gradients_ = false;  // its node is the only one, and its ranks read each other's
  bool looks_late_ = false;          // in this update: no rank looks at its own gradients
  bool computes_apart_ = false;
  collectives::MappedMemory apart_memory_;
  std::size_t minibatches_ = 0;
  std::uint64_t samples_ = 0;
  MeanUse* use_ = nullptr;
  bool is_used_ = false;
  std::vector<std::uint32_t> largest_bits_;  // over all ranks
  std::vector<std::uint64_t> audits_;
  std::vector<RankNote> notes_;
  std::uint64_t request_ = 0;
};

}  // namespace rubato::optim
