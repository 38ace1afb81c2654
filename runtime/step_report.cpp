// Facts of the update from where they are known.
#include "runtime/step_report.hpp"

#include <limits>

namespace rubato::runtime {

namespace {

StepReport report_of(const data::PlannedUpdate& update, const optim::ElasticOptimizer& optimizer) {
  StepReport report;
  report.update = update.end.update;
  report.epoch = update.begin.epoch;
  report.batch_size = update.batch_size;
  report.minibatch = update.minibatch;
  report.substeps = update.minibatches.size();
  report.samples = update.end.samples;
  report.scaled_updates = optimizer.progress();
  report.gradient_square = optimizer.noise().square();
  report.gradient_variance = optimizer.noise().variance();
  report.noise_scale = optimizer.noise().noise_scale();
  report.noise_interval = optimizer.noise().noise_scale_interval();
  for (std::size_t i = 0; i < optimizer.tensor_noise().size(); ++i) {
    report.tensor_noise.push_back(
        {optimizer.options().tensors[i], optimizer.tensor_noise()[i].noise_scale()});
  }
  return report;
}

}  // namespace

StepReport step_report(const data::PlannedUpdate& update, const optim::UpdateSums& sums,
                       const optim::ElasticOptimizer::Decision& decision,
                       const optim::ElasticOptimizer& optimizer,
                       const std::vector<std::string>& shadow_rules) {
  const auto samples = static_cast<double>(sums.samples);
  StepReport report = report_of(update, optimizer);
  report.learning_rate = decision.rate.learning_rate * decision.rate.gradient_scale;
  report.learning_rate_factor = decision.factor * decision.rate.gradient_scale;
  report.gain = decision.gain;
  report.efficiency = optimizer.efficiency();
  if (optimizer.options().clip_norm > 0) report.clip = decision.rate.gradient_clip;
  report.loss = sums.loss_sum / samples;
  report.accuracy = static_cast<double>(sums.correct) / samples;
  for (const std::string& rule : shadow_rules) {
    report.shadow_rates.push_back({rule, optimizer.shadow_rate(rule)});
  }
  return report;
}

StepReport skipped_report(const data::PlannedUpdate& update,
                          const optim::ElasticOptimizer& optimizer, const std::string& reason) {
  StepReport report = report_of(update, optimizer);
  report.gain = 0;
  report.loss = std::numeric_limits<double>::quiet_NaN();
  report.accuracy = std::numeric_limits<double>::quiet_NaN();
  report.skipped = reason;
  return report;
}

}  // namespace rubato::runtime
