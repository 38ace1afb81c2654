// All candidates are tried: some fifty, a microsecond each at most for ranks that are alike. The
// goodput is flat around its maximum, so a finer grid would find batches that are hardly better,
// and far less so than hysteresis asks for.
#include "optim/goodput.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace rubato::optim {

// (v + s)/(v/S + s)/S, multiplied by S above and below: no infinite noise scale where s is 0.
double statistical_efficiency(const NoiseLevel& noise, double initial_batch, double batch) {
  const double scale = batch / initial_batch;
  const double both = noise.variance + noise.square;
  return both > 0 ? both / (noise.variance + noise.square * scale) : 1 / scale;
}

double goodput(const GoodputModel& model, const Configuration& configuration) {
  const Allocation& allocation = model.allocation;
  const UpdateWork work{allocation.hosts, allocation.ranks,
                        static_cast<double>(configuration.minibatch),
                        longest_share(allocation, minibatches_of(configuration))};
  const auto batch = static_cast<double>(configuration.batch);
  return batch / predict(model.times, work).update_seconds *
         statistical_efficiency(model.noise, model.initial_batch, batch);
}

Choice best_configuration(const GoodputModel& model, const BatchLimits& limits,
                          const std::optional<Configuration>& current) {
  check(model.allocation);
  if (model.initial_batch != static_cast<double>(limits.initial_batch)) {
    throw std::invalid_argument("the limits' initial batch is " +
                                std::to_string(limits.initial_batch) + "; expected the model's, " +
                                std::to_string(model.initial_batch));
  }
  const std::size_t ranks = model.allocation.ranks;
  const std::vector<Configuration> candidates = batch_candidates(limits, ranks);
  Choice best{candidates.front(), goodput(model, candidates.front())};
  for (const Configuration& candidate : candidates) {
    const Choice choice{candidate, goodput(model, candidate)};
    if (choice.goodput > best.goodput) best = choice;
  }
  if (!current || !is_within(limits, ranks, *current)) return best;
  const double current_goodput = goodput(model, *current);
  return best.goodput > hysteresis * current_goodput ? best : Choice{*current, current_goodput};
}

}  // namespace rubato::optim
