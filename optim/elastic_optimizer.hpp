// An elastic optimizer wraps an inner one and rescales its learning rate to the batch size of each
// update.
//
//   effective rate = schedule(position) x factor(facts)
//
// Every rule is a pure function of the update's facts, so one run can say what each of them would
// have chosen. Scale S is batch / reference batch for all of them. The schedule's own rate is
// untouched: it is a function of the position.
//
// A limit on the gradient's norm (clip_norm) is meant at the reference scale: the mean gradient is
// clipped first, then the rule scales the rate. An update whose factor is r stands for r updates of
// the reference batch, and so is at most r times as long as the longest of those.
//
// Two ways to use it. The train step (runtime/) calls decide(), update() and the parts itself. A
// program of one's own calls set_epoch() and then step() once per substep, as in
// examples/01_trace_training.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "optim/elastic_options.hpp"
#include "optim/gradient_measures.hpp"
#include "optim/gradient_noise.hpp"
#include "optim/gradient_sync.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"
#include "optim/slice_update.hpp"

namespace rubato::optim {

// What a rule may look at.
struct ScaleFacts {
  double scale = 1;                               // S = batch / reference batch
  const GradientNoise& noise;                     // with this update's gradient already observed
  const GradientNoise* preconditioned = nullptr;  // in the optimizer's metric; none: it has none
  double legw_warmup = 1;                         // how much of legw's warm-up is done
};

// What an update says about its gradient: as it is; in the optimizer's metric and of each tensor,
// where these are measured.
struct UpdateFacts {
  GradientFacts gradient;
  GradientFacts preconditioned = {};
  std::span<const GradientFacts> tensors = {};
};

class ElasticOptimizer {
 public:
  // Throws std::invalid_argument, naming the value at fault.
  ElasticOptimizer(std::unique_ptr<Optimizer<float>> inner, LearningRateSchedule schedule,
                   ElasticOptions options);
  virtual ~ElasticOptimizer();

  virtual std::string rule() const = 0;  // "linear", ...
  // The rule: factor on the rate, and scale on the gradient (1 for all rules but linear-momentum).
  virtual UpdateRate factor(const ScaleFacts& facts) const = 0;
  // Whether the rule looks at the noise, that is, at the gradient of the update itself.
  virtual bool needs_gradient() const = 0;

  // Takes in one update's gradient and chooses its rate; advances progress by the gain. `position`
  // counts what is done.
  struct Decision {
    UpdateRate rate;  // what the inner optimizer is given
    double schedule_rate = 0;
    double factor = 1;
    double gain = 1;  // of this update, whatever the rule
  };
  Decision decide(const UpdateFacts& facts, Position position);
  Decision decide(const GradientFacts& gradient, Position position) {
    return decide(UpdateFacts{.gradient = gradient}, position);
  }
  // Carries a decision out on this rank's slice of the update last summed (slice_update.hpp).
  void update(const Decision& decision, GradientSync& sync, std::size_t minibatches,
              SliceUpdate& slice) const;

  // What decide() will choose for an update of so many samples, where neither rule nor clip nor the
  // inner optimizer need its whole gradient first, nor anybody measures it.
  std::optional<UpdateRate> rate_in_advance(double batch_size, Position position) const;

  // The effective rate (learning rate times gradient scale) that rule `name` would have chosen for
  // the update last decided: its shadow rate. 0 before the first; not a number for a rule that
  // needs what this run does not measure.
  double shadow_rate(const std::string& name) const;

  // The per-parameter buffers that update() needs: the inner optimizer's, and one for a gradient
  // that is kept, where single minibatches are compared.
  std::vector<std::string> state_names() const;
  // What the sync is to measure, given those buffers: GradientSync::measure().
  MeasureOptions measures(const SharedState& state) const;

  Optimizer<float>& inner() noexcept { return *inner_; }
  const LearningRateSchedule& schedule() const noexcept { return schedule_; }
  // Of the gradient; in the optimizer's metric where that is the run's (NoiseMetric).
  const GradientNoise& noise() const noexcept {
    return options_.noise_metric == NoiseMetric::preconditioned ? *preconditioned_ : plain_;
  }
  std::span<const GradientNoise> tensor_noise() const noexcept { return tensors_; }
  const ElasticOptions& options() const noexcept { return options_; }
  double progress() const noexcept { return progress_; }  // tau: the sum of the gains
  double reference_batch() const noexcept { return options_.reference_batch; }

  // Batch / reference batch of the update last decided, until update_scale() says what comes.
  double scale() const noexcept { return scale_; }
  void update_scale(double scale);
  // What an update of that scale is worth in updates of the reference batch, from the statistics up
  // to here; predicted the same way for one to come, because v and s belong to no batch size.
  double gain() const noexcept { return noise().gain(scale_); }
  double gain(double scale) const noexcept { return noise().gain(scale); }
  double predict_gain(double scale) const noexcept { return noise().gain(scale); }
  double efficiency() const noexcept { return noise().efficiency(scale_); }

  // Few-numbers state: noise averages, progress, the inner optimizer's scalars (prefixed "inner.").
  std::vector<NamedScalar> scalars() const;
  void restore_scalars(const std::vector<NamedScalar>& scalars);

  // One call per substep. attach() says what step() works on (collective); set_epoch() says how
  // many updates the epoch has and, for each, its batch size, its minibatches over all ranks, and
  // this rank's calls of step() (at least one: an idle rank calls it once, with facts of 0 samples,
  // to take part in the reduction); `position` samples of the epoch were used before its first
  // update (under carry). Sync and buffers must outlive the calls of step(); `gradient` is the
  // caller's own, not the sync's place, which sums leave other than zero.
  void attach(GradientSync& sync, SharedState state, std::span<float> gradient,
              std::uint64_t epoch_samples);
  void set_epoch(std::uint64_t epoch, std::span<const std::uint64_t> batch_sizes,
                 std::span<const std::size_t> minibatch_counts,
                 std::span<const std::size_t> substep_counts, std::uint64_t position = 0);

  enum class StepKind { accumulated, updated };
  struct StepOutcome {
    StepKind kind = StepKind::accumulated;
    Decision decision;  // of an update
    double loss = 0;    // of an update: mean over its samples
    std::uint64_t batch_size = 0;
  };
  // Takes in the gradient buffer (a SUM over the substep's samples) and zeroes it. At the update's
  // last substep: collective; sums over the ranks, updates the parameters, and says so. Under the
  // exact sum a copy of each of the update's gradients is kept until then, for the case that they
  // must be summed again in other units. Throws std::logic_error if called before attach() and
  // set_epoch(), or after the epoch's last substep.
  StepOutcome step(const SubstepFacts& facts);

 private:
  // Where step() stands.
  struct Substeps {
    GradientSync* sync = nullptr;
    std::optional<SliceUpdate> slice_update;
    std::span<float> gradient;
    std::uint64_t epoch_samples = 1;
    std::uint64_t epoch = 0;
    std::vector<std::uint64_t> batch_sizes;
    std::vector<std::size_t> minibatch_counts;
    std::vector<std::size_t> substep_counts;
    std::size_t update = 0;            // within the epoch
    std::size_t substep = 0;           // within the update
    std::uint64_t epoch_position = 0;  // samples used in the epoch
    std::uint64_t updates_done = 0;
    std::uint64_t samples_done = 0;
    struct Kept {
      SubstepFacts facts;
      std::vector<float> gradient;
    };
    std::vector<Kept> kept;  // the first `kept_count` are of this update; their memory stays
    std::size_t kept_count = 0;
  };
  double legw_warmup(const Position& position) const;
  void take_in(const SubstepFacts& facts);
  Position position() const;
  UpdateSums sum_over_ranks(const Position& position);
  StepOutcome finish_update();

  void observe(const UpdateFacts& facts);
  void observe(GradientNoise& noise, const GradientFacts& facts) const;
  ScaleFacts scale_facts() const;

  Substeps substeps_;
  std::unique_ptr<Optimizer<float>> inner_;
  const Preconditioner<float>* preconditioner_ = nullptr;  // the inner optimizer, if it is one
  bool is_layerwise_ = false;  // the inner optimizer wants the norms of the whole gradient
  LearningRateSchedule schedule_;
  ElasticOptions options_;
  GradientNoise plain_;
  std::optional<GradientNoise> preconditioned_;
  std::vector<GradientNoise> tensors_;
  double progress_ = 0;
  double scale_ = 1;
  double kept_batch_ = 0;        // batch size of the update whose gradient is kept; 0: none is
  bool keeps_gradient_ = false;  // of the update last decided
  double last_schedule_rate_ = 0;
  double last_legw_warmup_ = 1;
};

}  // namespace rubato::optim
