// Ordered JSON, so that people can read the lines as well. Numbers keep all their digits; what is
// not finite becomes null.
#include "runtime/metrics_file.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "runtime/errors.hpp"

namespace rubato::runtime {

namespace {

using Json = nlohmann::ordered_json;

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path file)
    : path_(std::move(file)), file_(std::fopen(path_.c_str(), "we"), std::fclose) {
  if (!file_) throw OutputError("cannot create " + path_.string() + ": " + reason());
  std::setvbuf(file_.get(), nullptr, _IOLBF, 1U << 16U);  // whole lines, as they happen
}

void MetricsFile::begin(const RunFacts& facts) {
  Json line{{"type", "context"}};
  for (const ContextEntry& entry : facts.context) line[entry.name] = entry.value;
  line["parameters"] = facts.parameters;
  line["training_samples"] = facts.training_samples;
  line["test_samples"] = facts.test_samples;
  line["ranks"] = facts.ranks;
  line["reference_batch"] = facts.reference_batch;
  write_line(line.dump());
}

void MetricsFile::update(const StepReport& report) {
  Json line{{"type", "update"},
            {"update", report.update},
            {"epoch", report.epoch},
            {"batch_size", report.batch_size},
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
            {"seconds", report.seconds}};
  if (report.was_repeated) line["repeated"] = true;
  for (const ShadowRate& shadow : report.shadow_rates) line["shadow_lr"][shadow.rule] = shadow.rate;
  write_line(line.dump());
}

void MetricsFile::evaluation(const EvaluationReport& report) {
  write_line(Json{{"type", "eval"},
                  {"update", report.update},
                  {"epoch", report.epoch},
                  {"scaled_updates", report.progress},
                  {"loss", report.loss},
                  {"accuracy", report.accuracy},
                  {"samples", report.samples},
                  {"seconds", report.seconds}}
                 .dump());
}

void MetricsFile::end(const RunEnd& end) {
  write_line(Json{{"type", "end"},
                  {"reason", end.reason},
                  {"updates", end.updates},
                  {"seconds", end.seconds},
                  {"samples_per_second", end.samples_per_second}}
                 .dump());
  if (std::fflush(file_.get()) != 0)
    throw WriteError("cannot write " + path_.string() + ": " + reason());
}

void MetricsFile::write_line(const std::string& line) {
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fputc('\n', file_.get()) == EOF) {
    throw WriteError("cannot write " + path_.string() + ": " + reason());
  }
}

}  // namespace rubato::runtime
