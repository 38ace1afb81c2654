// Ordered JSON, so that people can read the lines as well. Numbers keep all their digits; what is
// not finite becomes null.
#include "runtime/metrics_file.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

#include "runtime/errors.hpp"
#include "runtime/metrics_history.hpp"

namespace rubato::runtime {

namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// 52 bits: 13 digits, with their zeros.
std::string hexadecimal(std::uint64_t value) {
  std::string text(13, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4U) {
    *digit = "0123456789abcdef"[value & 15U];
  }
  return text;
}

// Out of the way, so that nothing is lost; where it went.
std::filesystem::path set_aside(const std::filesystem::path& file) {
  std::filesystem::path aside;
  for (int number = 1; aside.empty() || std::filesystem::exists(aside); ++number) {
    aside = file.string() + "." + std::to_string(number);
  }
  std::filesystem::rename(file, aside);
  return aside;
}

// How many bytes of the file stay; `note` says it if they are not what they should be.
std::uint64_t kept_bytes(const std::filesystem::path& file, const data::Cursor& cursor,
                         std::string& note) {
  const MetricsHistory history = metrics_history(file, cursor);
  if (history.problem.empty()) return history.bytes;
  note = file.string() + " " + history.problem + ", so it cannot be continued after update " +
         std::to_string(cursor.update) + ": a new one begins there";
  try {
    if (std::filesystem::exists(std::filesystem::symlink_status(file))) {
      note += ", and the old one is " + set_aside(file).filename().string();
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw OutputError("cannot rename " + file.string() + ": " + error.code().message());
  }
  return 0;
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& file) : lines_(file, 0) {}

MetricsFile::MetricsFile(const std::filesystem::path& file, const data::Cursor& resumes_from)
    : lines_(file, kept_bytes(file, resumes_from, note_)) {}

void MetricsFile::begin(const RunFacts& facts) {
  Json line{{"type", "context"}};
  if (facts.start.update > 0) line["resumed_from"] = facts.start.update;
  for (const ContextEntry& entry : facts.context) line[entry.name] = entry.value;
  line["parameters"] = facts.parameters;
  line["training_samples"] = facts.training_samples;
  line["test_samples"] = facts.test_samples;
  line["ranks"] = facts.ranks;
  line["reference_batch"] = facts.reference_batch;
  lines_.append(text_of(line));
}

void MetricsFile::update(const StepReport& report) {
  Json line{{"type", "update"},
            {"update", report.update},
            {"epoch", report.epoch},
            {"batch_size", report.batch_size},
            {"minibatch", report.minibatch},
            {"substeps", report.substeps},
            {"samples", report.samples},
            {"lr", report.learning_rate},
            {"lr_factor", report.learning_rate_factor},
            {"gain", report.gain},
            {"scaled_updates", report.scaled_updates},
            {"loss", report.loss},
            {"accuracy", report.accuracy},
            {"grad_sqr", report.gradient_square},
            {"grad_var", report.gradient_variance},
            {"noise_scale", report.noise_scale},
            {"noise_scale_low", report.noise_interval.low},
            {"noise_scale_high", report.noise_interval.high},
            {"efficiency", report.efficiency},
            {"seconds", report.seconds},
            {"imbalance", report.imbalance},
            {"audit", hexadecimal(report.audit)}};
  if (report.goodput > 0) line["goodput"] = report.goodput;
  if (report.predicted_goodput > 0) line["predicted_goodput"] = report.predicted_goodput;
  if (!report.skipped.empty()) line["skipped"] = report.skipped;
  if (report.was_repeated) line["repeated"] = true;
  if (report.clip) line["clip"] = *report.clip;
  for (const TensorNoise& noise : report.tensor_noise) {
    line["tensor_noise_scale"][noise.tensor] = noise.noise_scale;
  }
  for (const ShadowRate& shadow : report.shadow_rates) line["shadow_lr"][shadow.rule] = shadow.rate;
  lines_.append(text_of(line));
}

void MetricsFile::epoch(const EpochAudit& audit) {
  lines_.append(text_of({{"type", "epoch"},
                         {"epoch", audit.epoch},
                         {"samples", audit.samples},
                         {"audit", hexadecimal(audit.digest)}}));
}

void MetricsFile::decision(const DecisionReport& report) {
  const BatchDecision& decision = report.decision;
  lines_.append(text_of({{"type", "decision"},
                         {"update", decision.update},
                         {"epoch", decision.epoch},
                         {"changes", report.changes},
                         {"batch_size", decision.configuration.batch},
                         {"minibatch", decision.configuration.minibatch},
                         {"substeps_of_a_rank", decision.configuration.substeps},
                         {"hosts", decision.hosts},
                         {"ranks", decision.ranks},
                         {"predicted_goodput", decision.predicted_goodput},
                         {"current_goodput", decision.current_goodput},
                         {"noise_scale", decision.noise_scale},
                         {"seconds", report.seconds},
                         {"reason", decision.reason}}));
}

void MetricsFile::evaluation(const EvaluationReport& report) {
  lines_.append(text_of({{"type", "eval"},
                         {"update", report.update},
                         {"epoch", report.epoch},
                         {"scaled_updates", report.progress},
                         {"loss", report.loss},
                         {"accuracy", report.accuracy},
                         {"samples", report.samples},
                         {"seconds", report.seconds}}));
}

void MetricsFile::checkpoint(const CheckpointReport& report) {
  lines_.append(text_of({{"type", "checkpoint"},
                         {"update", report.update},
                         {"bytes", report.bytes},
                         {"stall_seconds", report.stall_seconds},
                         {"encode_seconds", report.encode_seconds},
                         {"write_seconds", report.write_seconds}}));
}

void MetricsFile::warning(const std::string& sentence) {
  lines_.append(text_of({{"type", "warning"}, {"warning", sentence}}));
}

void MetricsFile::end(const RunEnd& end) {
  Json line{{"type", "end"},
            {"reason", end.reason},
            {"updates", end.updates},
            {"seconds", end.seconds},
            {"samples_per_second", end.samples_per_second},
            {"waiting_share", end.waiting_share},
            {"waiting_seconds", end.waiting_seconds}};
  if (end.slow_rank) line["slow_rank"] = *end.slow_rank;
  lines_.append(text_of(line));
  lines_.finish();
}

}  // namespace rubato::runtime
