#include "optim/elastic_options.hpp"

#include "optim/option_check.hpp"

namespace rubato::optim {

std::vector<std::string> noise_metric_names() {
  return {"auto", "plain", "preconditioned", "both"};
}

NoiseMetric noise_metric(const std::string& name) {
  if (name == "auto") return NoiseMetric::automatic;
  if (name == "plain") return NoiseMetric::plain;
  if (name == "preconditioned") return NoiseMetric::preconditioned;
  if (name == "both") return NoiseMetric::both;
  throw_unknown_name("noise metric", name, noise_metric_names());
}

}  // namespace rubato::optim
