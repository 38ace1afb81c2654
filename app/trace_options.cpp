// See trace_options.hpp.
#include "app/trace_options.hpp"

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

OptionTable trace_make_table() {
  auto seed = count_option("seed", "42", "random-walk: of the walk");
  seed.range = OptionRange::not_negative;
  const std::string file = "File";
  return {
      {.command = "trace make",
       .summary = "write a trace of a given shape.",
       .example = "rubato trace make doubling --rows 500 --batch-size 64 --every 100 --out t.csv",
       .notes = "SHAPE is constant, steps, doubling or random-walk; an option named after shapes"
                " applies to these.",
       .positionals = {.names = "SHAPE", .least = 1, .most = 1}},
      {count_option("rows", "", "updates (required)"),
       count_option("batch-size", "",
                    "constant, doubling, random-walk: the first row's (required)"),
       {.name = "batch-sizes",
        .value_name = "N,N,...",
        .group = "Shape",
        .description = "steps: each in turn, for equally many rows (required)"},
       count_option("every", "", "doubling: rows from one doubling to the next (required)"),
       count_option("most", "", "doubling, random-walk: bound (default 16 times the first)"),
       count_option("least", "", "random-walk: bound (default one minibatch)"),
       count_option("minibatch", "32", "random-walk: all batches are multiples of it"),
       count_option("jump", "4", "random-walk: most minibatches from one row to the next"),
       seed,
       {.name = "out",
        .value_name = "FILE.csv",
        .group = file,
        .description = "where to write it (default: standard output)"},
       {.name = "overwrite",
        .kind = OptionKind::flag,
        .group = file,
        .description = "replace a file that is there"}}};
}

}  // namespace rubato::app
