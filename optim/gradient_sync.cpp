// The update's reduction, phase by phase.
//
// Order of accesses to shared memory: ranks write their gradients, slots, notes and largest
// magnitudes; the reducer lets nobody read them before all ranks of the node have; then the first
// rank of each node begins to combine the small tables with the other nodes', and owners note what
// they see of gradients at which no rank has looked, and use the mean of their slices, or write it
// over their own gradients, whose slices nobody else reads (on several nodes while others still
// compute); the last barrier; all read.
#include "optim/gradient_sync.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "optim/norm_block.hpp"

namespace rubato::optim {

namespace {

// The first rank of a node holds what the node has once.
std::size_t bytes_on_first(const collectives::Topology& topology, std::size_t bytes) {
  return topology.node().rank() == 0 ? bytes : 0;
}

std::size_t blocks_of(std::size_t elements) {
  return (elements + norm_block_elements - 1) / norm_block_elements;
}

static_assert(norm_block_elements == collectives::block_elements,
              "a slice must be whole norm blocks");

}  // namespace

GradientSync::GradientSync(const collectives::Topology& topology, std::vector<TensorRange> tensors,
                           std::size_t parameter_elements, std::size_t total_elements, SumKind kind,
                           collectives::AllreduceAlgorithm algorithm)
    : topology_(topology),
      tensors_(std::move(tensors)),
      segments_(tensors_, total_elements),
      parameter_elements_(parameter_elements),
      total_elements_(total_elements),
      kind_(kind),
      is_automatic_(algorithm == collectives::AllreduceAlgorithm::automatic),
      units_(tensors_.size()),
      gradients_(topology, segments_, units_, total_elements),
      late_looks_(topology, segments_),
      barrier_(topology),
      square_memory_(topology,
                     bytes_on_first(topology, blocks_of(parameter_elements) * sizeof(double))),
      tables_(topology, tensors_.size()),
      largest_bits_(tensors_.size()),
      notes_(topology.all().size()) {
  if (kind == SumKind::exact) {
    make_reducer<double>(algorithm);
  } else {
    make_reducer<float>(algorithm);
  }
}

template <class T>
void GradientSync::make_reducer(collectives::AllreduceAlgorithm algorithm) {
  auto reducer =
      collectives::make_slice_reducer<T>(topology_, barrier_, total_elements_, algorithm);
  accumulator_.emplace(segments_, tensors_.size(), reducer->addends());
  mine_.emplace(gradients_, *accumulator_, units_,
                reducer->shares_addends() ? std::as_writable_bytes(reducer->addends())
                                          : std::span<std::byte>());
  sees_all_gradients_ = topology_.node_count() == 1 && reducer->shares_addends();
  reducer_ = std::move(reducer);
}

void GradientSync::measure(const MeasureOptions& options) {
  const bool asks =
      options.per_tensor || options.preconditioner != nullptr || !options.kept_gradient.empty();
  if (!asks) return;
  measures_.emplace(topology_, segments_, tensors_, options);
  accumulator_->show_segments_to([this](std::size_t segment, std::span<const float> gradient) {
    measures_->take(segment, gradient);
  });
  tables_.allocate(tables_.most_minibatches(), measured_numbers());
}

void GradientSync::allow_apart() {
  if (!may_look_late()) return;
  apart_memory_ = collectives::MappedMemory(collectives::MappedMemory::no_file,
                                            total_elements_ * sizeof(float));
  collectives::take_pages(apart_memory_.bytes());
}

void GradientSync::reserve(std::size_t minibatches) {
  if (minibatches <= tables_.most_minibatches()) return;
  audits_.reserve(minibatches);
  tables_.allocate(minibatches, measured_numbers());
}

void GradientSync::begin(std::size_t minibatches, std::uint64_t samples, std::size_t mine,
                         std::size_t most, std::span<const MinibatchRun> runs) {
  if (minibatches > tables_.most_minibatches()) {
    reserve(std::max(minibatches, 2 * tables_.most_minibatches()));
  }
  minibatches_ = minibatches;
  samples_ = samples;
  most = std::min(most, minibatches);
  looks_late_ = may_look_late() && minibatches >= 2 && minibatches <= most_in_place &&
                most <= mine_->most_places();
  mine_->begin(looks_late_ ? most : mine,
               measures_ ? RankGradients::Adding::singly : RankGradients::Adding::in_pairs);
  if (measures_ && measures_->lacks_scales()) {  // of a state that was put in
    measures_->take_scales();
    barrier_.wait();
  }
  if (measures_) measures_->begin(minibatches, kind_ == SumKind::exact ? &units_ : nullptr);
  late_looks_.begin(tables_.largest_of(topology_.node().rank()), measures_ ? &*measures_ : nullptr);
  if (factors_) begin_factors(runs);
  std::visit([this](auto& reducer) { this->begin(*reducer); }, reducer_);
}

template <class T>
void GradientSync::begin(collectives::SliceReducer<T>& reducer) {
  reducer.begin(
      {.finish =
           [this](std::size_t begin, std::span<const T> sum) {
             make_mean(begin, sum, T{1} / static_cast<T>(samples_),
                       T{1} / static_cast<T>(minibatches_));
           },
       .results = gradients_.first_place(),
       .adopt = [this](std::size_t begin,
                       std::span<const float> results) { make_mean(begin, results, 1.0F, 1.0F); },
       .add_up = [this](std::size_t first, std::span<const T* const> addends, std::size_t begin,
                        std::span<T> sums) { gradients_.add_up(first, addends, begin, sums); },
       .all_are_in = [this] { all_are_in(); },
       .complete = factors_ ? factors_->plan().blocks() : std::span<const collectives::Slice>(),
       .bring_in = [this] { return multiply_factors(); },
       .make_block = [this](std::span<const T* const> addends, std::size_t begin,
                            std::size_t size) { make_block(addends, begin, size); }});
}

void GradientSync::all_are_in() {
  if (topology_.node().rank() == 0) {
    if (measures_) measures_->add_up(tables_.measured());
    tables_.begin_combining(minibatches_);
  }
  if (sees_all_gradients_) look_ahead();
}

void GradientSync::accumulate_from(std::size_t from, std::span<const float> gradient) {
  if (looks_late_) return;
  if (factors_) factors_->poll();
  const std::size_t final_from = mine_->take_from(from, gradient);
  std::visit([=](auto& reducer) { reducer->finished_from(final_from); }, reducer_);
}

void GradientSync::accumulate(const SubstepFacts& facts, std::span<const float> gradient) {
  MinibatchSlot& slot = tables_.slots()[facts.slot];
  const auto samples = static_cast<double>(facts.samples);
  slot = {facts.loss_sum,
          samples,
          static_cast<double>(facts.correct),
          0,
          static_cast<double>(facts.audit),
          0};
  if (looks_late_) return mine_->keep(gradient, facts.slot);
  mine_->take(gradient, slot.gradient_square);
  if (measures_) {
    slot.weighed_square = measures_->finish_minibatch(accumulator_->squares(), samples);
  }
}

UpdateSums GradientSync::sum(std::uint64_t request, const RankNote& note, MeanUse* use) {
  use_ = looks_late_ ? nullptr : use;
  is_used_ = false;
  tables_.notes()[topology_.all().rank()] = note;
  const std::span<std::int64_t> largest = tables_.largest_of(topology_.node().rank());
  std::ranges::copy(accumulator_->largest_bits(), largest.begin());
  largest[tensors_.size()] = nanoseconds_;
  largest.back() = static_cast<std::int64_t>(request);
  std::visit([](auto& reducer) { reducer->reduce(); }, reducer_);
  tables_.finish_combining();
  barrier_.wait();
  if (is_timed_) take_time();

  UpdateSums sums = add_slots();
  for (double square : block_squares()) sums.gradient.mean_square += square;
  if (measures_) add_measures(sums);
  sums.is_used = is_used_;
  audits_.clear();
  for (const MinibatchSlot& slot : tables_.slots().first(minibatches_)) {
    audits_.push_back(static_cast<std::uint64_t>(slot.audit));
  }
  std::ranges::copy(tables_.notes(), notes_.begin());
  take_largest();
  tables_.turn();
  require_finite_gradients();
  if (sums.samples != samples_) {
    throw std::logic_error("the ranks ran " + std::to_string(sums.samples) +
                           " samples of an update of " + std::to_string(samples_));
  }
  require_finite(sums);
  if (kind_ == SumKind::exact) sums.stands = units_.adopt(largest_bits_, minibatches_);
  return sums;
}

template <class T>
void GradientSync::make_mean(std::size_t begin, std::span<const T> sum, T per_sample,
                             T per_minibatch) {
  alignas(64) std::array<float, norm_block_elements> in_cache;
  float* const out = is_used_ ? in_cache.data() : gradients_.first_place().data() + begin;
  const std::size_t parameters =
      begin < parameter_elements_ ? std::min(sum.size(), parameter_elements_ - begin) : 0;
  if (parameters > 0) {
    note_mean(begin, {out, parameters}, take_mean(sum.first(parameters), per_sample, out));
  }
  for (std::size_t i = parameters; i < sum.size(); ++i) {
    out[i] = static_cast<float>(sum[i] * per_minibatch);
  }
  if (is_used_) use_->take(begin, {out, sum.size()});
}

template <class T>
void GradientSync::make_block(std::span<const T* const> addends, std::size_t begin,
                              std::size_t size) {
  const T per_sample = T{1} / static_cast<T>(samples_);
  const T per_minibatch = T{1} / static_cast<T>(minibatches_);
  if (!gradients_.can_take_mean()) {
    alignas(64) std::array<T, norm_block_elements> sums;
    gradients_.add_up<T>(0, addends, begin, {sums.data(), size});
    return make_mean<T>(begin, {sums.data(), size}, per_sample, per_minibatch);
  }
  alignas(64) std::array<float, norm_block_elements> in_cache;
  float* const mean = is_used_ ? in_cache.data() : gradients_.first_place().data() + begin;
  const double square =
      looks_late_
          ? gradients_.look_and_take_mean<T>(addends, begin, {mean, size}, per_sample,
                                             per_minibatch, late_looks_)
          : gradients_.take_mean<T>(addends, begin, {mean, size}, per_sample, per_minibatch);
  if (begin < parameter_elements_) {
    note_mean(begin, {mean, std::min(size, parameter_elements_ - begin)}, square);
  }
  if (is_used_) use_->take(begin, {mean, size});
}

UpdateSums GradientSync::add_slots() const {
  UpdateSums sums;
  double samples = 0;
  double correct = 0;
  double square_per_sample = 0;  // sum of |gradient sum|^2 / b_i = sum of b_i |g_i|^2
  for (std::size_t i = 0; i < minibatches_; ++i) {
    const MinibatchSlot& slot = tables_.slots()[i];
    sums.loss_sum += slot.loss_sum;
    samples += slot.samples;
    correct += slot.correct;
    square_per_sample += square_of(i) / slot.samples;
  }
  sums.samples = static_cast<std::uint64_t>(samples);
  sums.correct = static_cast<std::uint64_t>(correct);
  sums.gradient.batch_size = samples;
  sums.gradient.minibatches = minibatches_;
  sums.gradient.weighted_square = square_per_sample / samples;
  return sums;
}

void GradientSync::add_measures(UpdateSums& sums) {
  double weighed_per_sample = 0;
  for (std::size_t i = 0; i < minibatches_; ++i) {
    weighed_per_sample += weighed_square_of(i) / tables_.slots()[i].samples;
  }
  sums.preconditioned = measures_->preconditioned(sums.gradient, weighed_per_sample);
  sums.tensors = measures_->tensors(sums.gradient, tables_.measured());
  measures_->add_kept(sums.gradient);
}

std::span<double> GradientSync::block_squares() const {
  return square_memory_.region_as<double>(0).first(blocks_of(parameter_elements_));
}

}  // namespace rubato::optim
