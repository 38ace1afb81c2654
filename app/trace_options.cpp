// See trace_options.hpp.
#include "app/trace_options.hpp"

#include <utility>

#include "app/plan_options.hpp"

namespace rubato::app {
namespace {

const Positionals one_file{.names = "FILE", .least = 1, .most = 1};

Option format_option() {
  return {.name = "format",
          .kind = OptionKind::choice,
          .default_value = "text",
          .group = "Output",
          .description = "for people, or one JSON document",
          .choices = {"text", "json"}};
}

Option count_option(std::string name, std::string default_value, std::string description) {
  return {.name = std::move(name),
          .kind = OptionKind::integer,
          .default_value = std::move(default_value),
          .value_name = "N",
          .group = "Shape",
          .description = std::move(description)};
}

// Where a trace that is made goes.
std::vector<Option> file_options() {
  const std::string group = "File";
  return {{.name = "out",
           .value_name = "FILE.csv",
           .group = group,
           .description = "where to write it (default: standard output)"},
          {.name = "overwrite",
           .kind = OptionKind::flag,
           .group = group,
           .description = "replace a file that is there"}};
}

}  // namespace

OptionTable trace_show_table() {
  return {{.command = "trace show",
           .summary = "what is in a trace.",
           .example = "rubato trace show trace.csv",
           .positionals = one_file},
          {format_option()}};
}

OptionTable trace_check_table() {
  auto options = size_options();
  for (const auto& option : plan_options()) {
    const bool is_the_file = option.name == "trace" || option.name == "batch-size";
    if (!is_the_file) options.push_back(option);
  }
  options.push_back(format_option());
  return {{.command = "trace check",
           .summary = "whether a run can follow a trace, and what each epoch leaves over.",
           .example = "rubato trace check trace.csv --samples 60000 --minibatch 64 --epochs 2",
           .alternatives = {{"epochs", "updates"}, {"samples", "data"}},
           .positionals = one_file},
          options};
}

OptionTable trace_from_capacity_table() {
  auto per_device = count_option("samples-per-device", "", "in a batch (required)");
  auto per_row = count_option("updates-per-row", "1", "of the history");
  auto least = count_option("least-devices", "1", "rows with fewer are left out");
  std::vector<Option> options{per_device,
                              per_row,
                              least,
                              {.name = "column",
                               .value_name = "NAME",
                               .group = "Shape",
                               .description = "of the number of devices; default GPUs, TPU_cores,"
                                              " devices or capacity"}};
  for (auto& option : file_options()) options.push_back(std::move(option));
  return {{.command = "trace from-capacity",
           .summary = "write the trace of a training whose batch follows the number of devices.",
           .example = "rubato trace from-capacity gpus.csv --samples-per-device 32 --out t.csv",
           .notes = "FILE.csv has a column time (seconds) and one with the number of devices; the"
                    " batch of its\nrow is that number times --samples-per-device. Rows without a"
                    " device are left out.",
           .positionals = {.names = "FILE.csv", .least = 1, .most = 1}},
          std::move(options)};
}

OptionTable trace_make_table() {
  auto seed = count_option("seed", "42", "random-walk: of the walk");
  seed.range = OptionRange::not_negative;
  std::vector<Option> options{
      count_option("rows", "", "updates (required)"),
      count_option("batch-size", "", "constant, doubling, random-walk: the first row's (required)"),
      {.name = "batch-sizes",
       .value_name = "N,N,...",
       .group = "Shape",
       .description = "steps: each in turn, for equally many rows (required)"},
      count_option("every", "", "doubling: rows from one doubling to the next (required)"),
      count_option("most", "", "doubling, random-walk: bound (default 16 times the first)"),
      count_option("least", "", "random-walk: bound (default one minibatch)"),
      count_option("minibatch", "32", "random-walk: all batches are multiples of it"),
      count_option("jump", "4", "random-walk: most minibatches from one row to the next"),
      seed};
  for (auto& option : file_options()) options.push_back(std::move(option));
  return {
      {.command = "trace make",
       .summary = "write a trace of a given shape.",
       .example = "rubato trace make doubling --rows 500 --batch-size 64 --every 100 --out t.csv",
       .notes = "SHAPE is constant, steps, doubling or random-walk; an option named after shapes"
                " applies to these.",
       .positionals = {.names = "SHAPE", .least = 1, .most = 1}},
      std::move(options)};
}

}  // namespace rubato::app
