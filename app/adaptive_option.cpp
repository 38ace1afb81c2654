// See adaptive_option.hpp.
#include "app/adaptive_option.hpp"

#include <cstdint>
#include <sstream>
#include <string>

#include "app/failure.hpp"
#include "app/option_value.hpp"

namespace rubato::app {
namespace {

constexpr const char* expected =
    ", expected max=N, local=MIN:MAX or both, and perhaps initial=N, with commas between";

std::uint64_t samples(const std::string& text, const std::string& item) {
  const auto value = parse_whole<std::uint64_t>(text);
  if (value && *value >= 1 && *value <= 1'000'000'000) return *value;
  throw UsageError("--adaptive: found \"" + item +
                   "\", expected whole numbers from 1 to 1e9 in it");
}

optim::LocalBounds bounds(const std::string& text, const std::string& item) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    throw UsageError("--adaptive: found \"" + item + "\", expected local=MIN:MAX");
  }
  const optim::LocalBounds local{samples(text.substr(0, colon), item),
                                 samples(text.substr(colon + 1), item)};
  if (local.lower <= local.upper) return local;
  throw UsageError("--adaptive: found \"" + item +
                   "\", expected local=MIN:MAX with the smaller bound first");
}

optim::BatchLimits parse(const std::string& text, std::uint64_t minibatch) {
  optim::BatchLimits limits;
  std::optional<std::uint64_t> initial;
  if (text.ends_with(',')) throw UsageError("--adaptive: found \"" + text + "\"" + expected);
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const std::size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    const bool is_twice = (key == "max" && limits.max_batch_size) ||
                          (key == "local" && limits.local_bounds) || (key == "initial" && initial);
    if (is_twice) throw UsageError("--adaptive: " + key + " is given twice; give it once");
    if (key == "max") {
      limits.max_batch_size = samples(value, item);
    } else if (key == "local") {
      limits.local_bounds = bounds(value, item);
    } else if (key == "initial") {
      initial = samples(value, item);
    } else {
      throw UsageError("--adaptive: found \"" + item + "\"" + expected);
    }
  }
  if (!limits.max_batch_size && !limits.local_bounds) {
    throw UsageError("--adaptive: found \"" + text + "\"" + expected);
  }
  limits.initial_batch = initial.value_or(minibatch);
  return limits;
}

void require_sense(const optim::BatchLimits& limits) {
  const auto& [initial, most, local, fixed, accumulates, below, single] = limits;
  if (most && *most < initial) {
    throw UsageError("--adaptive: the maximum, " + std::to_string(*most) +
                     ", is below the initial batch, " + std::to_string(initial) +
                     "; give initial=N, or a larger maximum");
  }
  if (!fixed || !local || (*fixed >= local->lower && *fixed <= local->upper)) return;
  throw UsageError("--fixed-minibatch: the minibatch is " + std::to_string(*fixed) +
                   ", expected one within local=" + std::to_string(local->lower) + ":" +
                   std::to_string(local->upper) + "; give --minibatch N");
}

// The efficiency of larger batches, by which a batch is chosen, is that of a rate that follows it.
void require_rule_that_follows(const Options& options) {
  const std::string& rule = options.text("rule");
  if (rule == "constant" && options.text("optimizer") != "adadelta") {
    throw UsageError(
        "--adaptive: rule constant leaves the learning rate as it is, so larger batches would come"
        " no further with an update; choose adascale, or another rule that follows the batch");
  }
}

}  // namespace

std::vector<Option> adaptive_options() {
  const std::string group = "Batch sizes";
  return {
      {.name = "adaptive",
       .value_name = "LIMITS",
       .group = group,
       .description = "let the run choose its batches: max=N samples of an update, local=MIN:MAX"
                      " samples of a minibatch, one of these or both; and initial=N, the batch that"
                      " learning rate and efficiency refer to, default --minibatch"},
      {.name = "fixed-minibatch",
       .kind = OptionKind::flag,
       .group = group,
       .description = "batches of whole minibatches of --minibatch samples",
       .only_with = {.option = "adaptive"}},
      {.name = "below-initial",
       .kind = OptionKind::flag,
       .group = group,
       .description = "batches smaller than the initial one, too",
       .only_with = {.option = "adaptive"}},
  };
}

std::optional<optim::BatchLimits> batch_limits(const Options& options) {
  const auto text = options.text_if("adaptive");
  if (!text) return std::nullopt;
  optim::BatchLimits limits = parse(*text, options.integer("minibatch"));
  if (options.flag("fixed-minibatch")) limits.fixed_minibatch = options.integer("minibatch");
  limits.may_go_below_initial = options.flag("below-initial");
  require_sense(limits);
  require_rule_that_follows(options);
  return limits;
}

}  // namespace rubato::app
