// One update, as data flows:
//
//   1 plan        which of the update's minibatches are mine
//   2 substeps    each of them forward and backward: loss, gradient sum over its samples
//   3 accumulate  gradients into an order-free partial sum
//   4 sum         partial sums and scalars over all ranks: the mean gradient, the update's facts
//   5 rate        facts and position to a learning rate
//   6 update      parameters, slice by slice, by their owners
//   7 report      what there is to say about it, and which samples it used
//
// Nothing outside this call changes before it is certain that the sum stands, so that phases 2-4
// can be run again when the units of the exact sum must change, with the same samples and the same
// random numbers. Where that is certain before the sum is made, and the rate is known without it,
// phase 6 is a part of phase 4: each block is updated as soon as it is summed. (Of a few
// minibatches phase 3 is a part of phase 4 in its place, which saves as much.)
#include "runtime/train_step.hpp"

#include <chrono>
#include <utility>

#include "runtime/dense_factors.hpp"
#include "runtime/errors.hpp"
#include "runtime/seconds_since.hpp"

namespace rubato::runtime {

TrainStep::TrainStep(const collectives::Topology& topology, Replica& replica,
                     data::Prefetcher& loader, optim::GradientSync& sync,
                     optim::ElasticOptimizer& optimizer, Options options)
    : replica_(replica),
      loader_(loader),
      sync_(sync),
      optimizer_(optimizer),
      options_(std::move(options)),
      slice_update_(optimizer.inner(), sync, replica.shared()),
      share_(options_.assignment, topology.all().rank(), topology.all().size()),
      timer_(options_.clock) {
  sync_.measure(optimizer_.measures(replica_.shared()));
  if (slice_update_.allow_own_weights()) sync_.allow_apart();
  allow_factors(replica_.model(), sync_);
}

StepReport TrainStep::run(const data::PlannedUpdate& update, const data::PlannedUpdate* upcoming,
                          std::uint64_t request) {
  const auto start = std::chrono::steady_clock::now();
  beat(update, Phase::loading_data);
  prepare_data(update, upcoming);

  StepReport report;
  try {
    const Summed summed = sum_gradients(update, upcoming, request);
    report = apply(update, summed.sums);
    report.was_repeated = summed.was_repeated;
  } catch (const optim::NonFiniteGradient& error) {
    if (!options_.skips_nonfinite) {
      throw RunError("update " + std::to_string(update.end.update) + ": " + error.what());
    }
    report = skipped_report(update, optimizer_, error.what());
  }
  beat(update, Phase::waiting);
  sync_.barrier();
  replica_.use_weights(slice_update_.new_weights());
  sync_.compute_apart(slice_update_.has_own_weights());

  take_times(update, report);
  take_audits(update, report);
  report.request = sync_.request();
  report.epochs_done =
      static_cast<double>(update.end.epoch) +
      static_cast<double>(update.end.position) / static_cast<double>(options_.epoch_samples);
  report.seconds = seconds_since(start);
  used_memory_.add(report.seconds);
  return report;
}

double TrainStep::seconds_of(std::uint64_t samples) {
  requested_.assign(1, {.size = samples});
  loader_.request(requested_);
  const data::LoadedMinibatch loaded = loader_.next();
  timer_.begin();
  replica_.run(loaded, sync_.gradient());
  timer_.take(/*is_whole=*/true);
  return timer_.time().busy_seconds;
}

TrainStep::Summed TrainStep::sum_gradients(const data::PlannedUpdate& update,
                                           const data::PlannedUpdate* upcoming,
                                           std::uint64_t request) {
  run_substeps(update);
  Summed summed{.sums = sum(update, request)};
  while (!summed.sums.stands) {
    summed.was_repeated = true;
    beat(update, Phase::waiting);
    sync_.barrier();
    loader_.clear();
    request_mine(update, mine_.slots);
    if (upcoming != nullptr) request_mine(*upcoming, next_mine_.slots);
    run_substeps(update);
    summed.sums = sum(update, request);
  }
  return summed;
}

optim::UpdateSums TrainStep::sum(const data::PlannedUpdate& update, std::uint64_t request) {
  beat(update, Phase::summing);
  slice_update_.computed(replica_.weights(), timer_.time().busy_seconds, mine_.slots.size());
  const auto rate =
      optimizer_.rate_in_advance(static_cast<double>(update.batch_size), position_of(update));
  if (rate) slice_update_.prepare(*rate, update.minibatches.size());
  const auto tell_times = [this] {
    if (options_.heartbeat != nullptr) options_.heartbeat->summed(sync_.sum_times());
  };
  try {
    optim::UpdateSums sums =
        sync_.sum(request, note_of(timer_.time()), rate ? &slice_update_ : nullptr);
    tell_times();
    return sums;
  } catch (const optim::NonFiniteGradient&) {
    tell_times();
    throw;
  }
}

StepReport TrainStep::apply(const data::PlannedUpdate& update, const optim::UpdateSums& sums) {
  beat(update, Phase::updating);
  const auto decision =
      optimizer_.decide({sums.gradient, sums.preconditioned, sums.tensors}, position_of(update));
  if (!sums.is_used) {
    optimizer_.update(decision, sync_, update.minibatches.size(), slice_update_);
  }
  return step_report(update, sums, decision, optimizer_, options_.shadow_rules);
}

optim::Position TrainStep::position_of(const data::PlannedUpdate& update) const {
  const double epoch_fraction =
      static_cast<double>(update.begin.position) / static_cast<double>(options_.epoch_samples);
  return {.update = static_cast<double>(update.begin.update),
          .sample = static_cast<double>(update.begin.samples),
          .epoch = static_cast<double>(update.begin.epoch) + epoch_fraction,
          .progress = optimizer_.progress()};
}

// An update's data are requested while the one before it runs, so what that one tells of the ranks'
// speeds comes too late for it.
void TrainStep::prepare_data(const data::PlannedUpdate& update,
                             const data::PlannedUpdate* upcoming) {
  if (is_prefetched_) {
    std::swap(mine_, next_mine_);
  } else {
    mine_ = share_of(update);
    request_mine(update, mine_.slots);
  }
  is_prefetched_ = upcoming != nullptr;
  if (!is_prefetched_) return;
  next_mine_ = share_of(*upcoming);
  request_mine(*upcoming, next_mine_.slots);
}

WorkShare::Minibatches TrainStep::share_of(const data::PlannedUpdate& update) {
  return share_.of(update, sync_.has_factors() ? WorkShare::Owners::told : WorkShare::Owners::any);
}

void TrainStep::forget_upcoming() {
  if (std::exchange(is_prefetched_, false)) loader_.clear();
}

void TrainStep::request_mine(const data::PlannedUpdate& update,
                             const std::vector<std::size_t>& slots) {
  requested_.clear();
  for (const std::size_t slot : slots) requested_.push_back(update.minibatches[slot]);
  loader_.request(requested_);
}

void TrainStep::run_substeps(const data::PlannedUpdate& update) {
  sync_.begin(update.minibatches.size(), update.batch_size, mine_.slots.size(), mine_.most,
              runs_of(update));
  timer_.begin();
  for (const std::size_t slot : mine_.slots) {
    const data::Minibatch& minibatch = update.minibatches[slot];
    beat(update, Phase::loading_data);
    const data::LoadedMinibatch loaded = loader_.next();
    beat(update, Phase::computing);
    const nn::MinibatchLoss loss =
        replica_.run(loaded, sync_.gradient(),
                     slot == mine_.slots.back() ? sum_early() : nn::IsFinalFrom(), send_factors());
    const std::uint64_t audit = audit_of(minibatch.epoch, update.begin.update, loaded.samples);
    beat(update, Phase::accumulating);
    sync_.accumulate({slot, minibatch.size, loss.loss_sum, loss.correct, audit}, sync_.gradient());
    timer_.take(minibatch.size == update.minibatch);
  }
}

// Where the sum needs a network, it begins with the first parts of this rank's last gradient.
nn::IsFinalFrom TrainStep::sum_early() {
  if (!sync_.overlaps()) return {};
  return [this](std::size_t from) { sync_.accumulate_from(from, sync_.gradient()); };
}

// What a few gradients are made of may be less to send than their sum is.
nn::TakeFactors TrainStep::send_factors() {
  if (!sync_.has_factors()) return {};
  return [this](const nn::Factors& factors) {
    sync_.take_factors({factors.tensor, factors.output_gradients, factors.inputs});
  };
}

std::span<const optim::MinibatchRun> TrainStep::runs_of(const data::PlannedUpdate& update) {
  runs_.clear();
  if (!sync_.has_factors()) return {};
  for (std::size_t i = 0; i < update.minibatches.size(); ++i) {
    runs_.push_back({mine_.owners[i], update.minibatches[i].size});
  }
  return runs_;
}

void TrainStep::beat(const data::PlannedUpdate& update, Phase phase) const {
  if (options_.heartbeat != nullptr) options_.heartbeat->beat(update.end.update, phase);
}

// The first update also starts the kernels: it tells nothing of the ranks' speeds.
void TrainStep::take_times(const data::PlannedUpdate& update, StepReport& report) {
  report.rank_times = rank_times(sync_.notes());
  report.imbalance = imbalance(report.rank_times);
  if (has_begun_) share_.learn(report.rank_times, update.minibatch);
  has_begun_ = true;
}

void TrainStep::take_audits(const data::PlannedUpdate& update, StepReport& report) {
  const auto advance_to = [&](std::uint64_t epoch) {
    if (const auto finished = audit_.advance_to(epoch)) report.finished_epochs.push_back(*finished);
  };
  for (std::size_t i = 0; i < update.minibatches.size(); ++i) {
    advance_to(update.minibatches[i].epoch);
    audit_.add(update.minibatches[i].size, sync_.audits()[i]);
  }
  advance_to(update.end.epoch);
  report.audit = audit_.run_digest;
}

}  // namespace rubato::runtime
