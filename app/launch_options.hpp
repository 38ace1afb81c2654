// The options of `rubato launch`, and what they describe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/capacity_source.hpp"
#include "app/options.hpp"
#include "app/supervisor.hpp"

namespace rubato::app {

OptionTable launch_table();

// `rubato launch A B -- C D`: A B and C D.
struct LaunchWords {
  std::vector<std::string> own;
  std::vector<std::string> train;  // checked: they are options of `rubato train` with --out
  std::string directory{};         // their --out
};

// Throws UsageError: no "--", none of --out, --overwrite, or what `rubato train` itself would say
// of its options.
LaunchWords split_launch_words(const std::vector<std::string>& words);

// `program` is what the ranks run: this program.
LaunchPlan launch_plan(const Options& options, const LaunchWords& words,
                       const std::string& program);

// Throws as capacity_file() and CapacityHistory.
std::unique_ptr<CapacitySource> capacity_source(const Options& options, const RankLimits& limits);

}  // namespace rubato::app
