// A small table of options, one of each kind, for the tests.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace rubato::app {

inline OptionTable small_table() {
  OptionTable::About about{.command = "tune", .summary = "a test.", .example = "rubato tune"};
  about.reads_config = true;
  about.alternatives = {{"trace", "batch-size"}};
  about.positionals = {.names = "FILE", .least = 0, .most = 1};
  return {
      about,
      {{.name = "trace", .value_name = "FILE", .group = "Batch", .description = "a file"},
       {.name = "batch-size", .kind = OptionKind::integer, .group = "Batch"},
       {.name = "lr", .kind = OptionKind::number, .default_value = "0.1", .group = "Rate"},
       {.name = "rule",
        .kind = OptionKind::choice,
        .default_value = "linear",
        .group = "Rate",
        .description = "the rule",
        .choices = {"linear", "root"}},
       {.name = "nesterov", .kind = OptionKind::flag, .group = "Rate", .description = "look ahead"},
       {.name = "bend",
        .kind = OptionKind::number,
        .default_value = "2",
        .group = "Rate",
        .description = "how far",
        .only_with = {"rule", {"root"}}},
       {.name = "out", .group = "Output", .is_recorded = false}}};
}

inline Options parse(const std::vector<std::string>& arguments) {
  return small_table().parse(arguments);
}

}  // namespace rubato::app
