// ElasticOptimizer, one call per substep: accumulate, accumulate, ..., sum over the ranks and
// update.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "optim/elastic_optimizer.hpp"

namespace rubato::optim {

void ElasticOptimizer::attach(GradientSync& sync, SharedState state, std::span<float> gradient,
                              std::uint64_t epoch_samples) {
  substeps_.sync = &sync;
  sync.measure(measures(state));
  substeps_.slice_update.emplace(*inner_, sync, std::move(state));
  substeps_.gradient = gradient;
  substeps_.epoch_samples = epoch_samples;
}

void ElasticOptimizer::set_epoch(std::uint64_t epoch, std::span<const std::uint64_t> batch_sizes,
                                 std::span<const std::size_t> minibatch_counts,
                                 std::span<const std::size_t> substep_counts,
                                 std::uint64_t position) {
  substeps_.epoch = epoch;
  substeps_.batch_sizes.assign(batch_sizes.begin(), batch_sizes.end());
  substeps_.minibatch_counts.assign(minibatch_counts.begin(), minibatch_counts.end());
  substeps_.substep_counts.assign(substep_counts.begin(), substep_counts.end());
  substeps_.update = 0;
  substeps_.substep = 0;
  substeps_.epoch_position = position;
}

ElasticOptimizer::StepOutcome ElasticOptimizer::step(const SubstepFacts& facts) {
  if (substeps_.sync == nullptr || substeps_.update == substeps_.batch_sizes.size()) {
    throw std::logic_error(
        "step(): call attach() and set_epoch() first, and step() once for each "
        "of the epoch's substeps");
  }
  if (substeps_.substep == 0) {
    substeps_.sync->begin(substeps_.minibatch_counts[substeps_.update],
                          substeps_.batch_sizes[substeps_.update]);
    substeps_.kept_count = 0;
  }
  if (facts.samples > 0) take_in(facts);
  if (++substeps_.substep < substeps_.substep_counts[substeps_.update]) return {};
  return finish_update();
}

void ElasticOptimizer::take_in(const SubstepFacts& facts) {
  substeps_.sync->accumulate(facts, substeps_.gradient);
  if (substeps_.sync->kind() == SumKind::exact) {
    if (substeps_.kept_count == substeps_.kept.size()) substeps_.kept.emplace_back();
    Substeps::Kept& kept = substeps_.kept[substeps_.kept_count++];
    kept.facts = facts;
    kept.gradient.assign(substeps_.gradient.begin(), substeps_.gradient.end());
  }
  std::fill(substeps_.gradient.begin(), substeps_.gradient.end(), 0.0F);
}

Position ElasticOptimizer::position() const {
  const auto epoch_fraction =
      static_cast<double>(substeps_.epoch_position) / static_cast<double>(substeps_.epoch_samples);
  return {.update = static_cast<double>(substeps_.updates_done),
          .sample = static_cast<double>(substeps_.samples_done),
          .epoch = static_cast<double>(substeps_.epoch) + epoch_fraction,
          .progress = progress_};
}

UpdateSums ElasticOptimizer::sum_over_ranks(const Position& position) {
  GradientSync& sync = *substeps_.sync;
  const auto batch_size = static_cast<double>(substeps_.batch_sizes[substeps_.update]);
  const std::optional<UpdateRate> rate = rate_in_advance(batch_size, position);
  MeanUse* const use = rate ? &*substeps_.slice_update : nullptr;
  if (rate) {
    substeps_.slice_update->prepare(*rate, substeps_.minibatch_counts[substeps_.update]);
  }
  UpdateSums sums = sync.sum(0, {}, use);
  while (!sums.stands) {
    sync.barrier();
    sync.begin(substeps_.minibatch_counts[substeps_.update],
               substeps_.batch_sizes[substeps_.update]);
    for (const Substeps::Kept& kept : std::span(substeps_.kept).first(substeps_.kept_count)) {
      sync.accumulate(kept.facts, kept.gradient);
    }
    sums = sync.sum(0, {}, use);
  }
  return sums;
}

ElasticOptimizer::StepOutcome ElasticOptimizer::finish_update() {
  const Position position = this->position();
  const UpdateSums sums = sum_over_ranks(position);
  const Decision decision =
      decide(UpdateFacts{sums.gradient, sums.preconditioned, sums.tensors}, position);
  if (!sums.is_used) {
    update(decision, *substeps_.sync, substeps_.minibatch_counts[substeps_.update],
           *substeps_.slice_update);
  }
  substeps_.sync->barrier();

  substeps_.update += 1;
  substeps_.substep = 0;
  substeps_.epoch_position += sums.samples;
  substeps_.updates_done += 1;
  substeps_.samples_done += sums.samples;
  return {StepKind::updated, decision, sums.loss_sum / static_cast<double>(sums.samples),
          sums.samples};
}

}  // namespace rubato::optim
