// Everything that defines a run, and everything that only says how to carry it out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collectives/allreduce.hpp"
#include "data/batch_trace.hpp"
#include "data/crop_flip.hpp"
#include "data/data_source.hpp"
#include "data/epoch_order.hpp"
#include "data/substep_plan.hpp"
#include "data/trace_plan.hpp"
#include "nn/backend.hpp"
#include "optim/batch_candidates.hpp"
#include "optim/elastic_options.hpp"
#include "optim/gradient_accumulator.hpp"
#include "optim/learning_rate_schedule.hpp"
#include "optim/optimizer.hpp"
#include "runtime/rank_times.hpp"
#include "runtime/stop_request.hpp"
#include "runtime/watchdog.hpp"

namespace rubato::runtime {

// What to do with a run that the output directory holds: refuse it, replace it, go on with it.
enum class OutputMode { fresh, overwrite, resume };

// Without --checkpoint-every a checkpoint is due when the last one is so old.
inline constexpr double checkpoint_seconds = 60;

// Of a run that chooses its batch size (adaptive_batch.hpp).
struct AdaptiveOptions {
  optim::BatchLimits limits;
  double budget = 0.01;  // of the updates' time, what deciding may cost
};

struct RunOptions {
  // The run: these decide the result, to the bit.
  data::DataOptions data;
  data::Augmentation augmentation = data::Augmentation::none;  // of training samples alone
  std::string model = "mlp:512,512";
  std::uint64_t seed = 42;
  data::OrderKind order = data::OrderKind::torch;
  std::string trace_file;                   // empty: a constant batch
  std::uint64_t batch_size = 0;             // of the constant batch
  std::optional<AdaptiveOptions> adaptive;  // instead of a trace or a constant batch
  std::uint64_t minibatch = 32;
  data::TraceEnd trace_end = data::TraceEnd::error;
  data::EpochEnd epoch_end = data::EpochEnd::drop;
  std::optional<std::uint64_t> epochs;
  std::optional<std::uint64_t> updates;
  std::optional<double> until_progress;  // stop when the scale-invariant progress has come so far
  optim::OptimizerOptions optimizer;
  optim::ScheduleOptions schedule;
  std::string rule = "linear";
  std::optional<double> reference_batch;  // default: the first update's batch
  double clip_norm = 0;                   // limit of the mean gradient's norm; 0: none
  std::optional<double> legw_warmup;      // legw: epochs of warm-up at the reference batch
  optim::SingleMinibatch single_minibatch = optim::SingleMinibatch::hold;
  optim::NoiseMetric noise_metric = optim::NoiseMetric::automatic;
  bool measures_tensors = false;  // the noise scale of each tensor too
  optim::SumKind sum = optim::SumKind::exact;
  std::string backend = "auto";  // kernels: auto, onednn, onednn-direct, eigen
  std::string isa = "auto";      // oneDNN may use no more than this instruction set

  // How it is carried out: none of these changes a bit of the result (under the exact sum).
  std::string data_image;  // of the same data, loaded by another process (data_image.hpp)
  data::Assignment assignment = data::Assignment::blocked;
  SecondsClock substep_clock = {};  // by which a balanced assignment measures; none: a real one
  collectives::AllreduceAlgorithm allreduce = collectives::AllreduceAlgorithm::automatic;
  std::vector<std::string> shadow_rules;
  std::optional<std::uint64_t> evaluate_every;  // samples; ends of epochs are evaluated anyway
  bool skips_nonfinite = false;  // leave updates out whose loss or gradient is not finite
  std::optional<std::filesystem::path> output;  // nothing is written without it
  OutputMode output_mode = OutputMode::fresh;
  bool writes_tensorboard = false;                // besides metrics.jsonl
  bool accepts_other_kernels = false;             // when it goes on from a checkpoint
  std::optional<std::uint64_t> checkpoint_every;  // updates; default: checkpoint_seconds
  std::size_t kept_checkpoints = 3;               // besides that of update 0
  std::optional<std::uint64_t> stop_after_update;
  std::optional<double> max_seconds;          // stop then
  const StopRequest* stop_request = nullptr;  // signals that stop the run; must outlive it
  std::optional<WatchdogOptions> watchdog;
  std::optional<std::filesystem::path> timeline;  // what every rank did when, as a file
  std::string configuration;                      // the text of DIR/config.ini
};

}  // namespace rubato::runtime
