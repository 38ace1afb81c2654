// See checkpoint_options.hpp.
#include "app/checkpoint_options.hpp"

namespace rubato::app {
namespace {

constexpr std::size_t most_paths = 4096;

Option checkpoint_format_option() {
  return {.name = "format",
          .kind = OptionKind::choice,
          .default_value = "text",
          .group = "Output",
          .description = "for people, or one JSON document",
          .choices = {"text", "json"}};
}

}  // namespace

OptionTable checkpoint_list_table() {
  return {{.command = "checkpoint list",
           .summary = "the checkpoints of a run, newest first, each verified.",
           .example = "rubato checkpoint list runs/first",
           .notes = "Reads all of them. A damaged one is listed with the reason; a run that goes on"
                    " would pass it over.",
           .positionals = {.names = "DIR", .least = 1, .most = 1}},
          {checkpoint_format_option()}};
}

OptionTable checkpoint_show_table() {
  return {{.command = "checkpoint show",
           .summary = "what a checkpoint holds: position, tensors, identity and context.",
           .example = "rubato checkpoint show runs/first",
           .notes = "Of a directory the newest good checkpoint. least, largest and norm are of the"
                    " finite elements.",
           .positionals = {.names = "FILE|DIR", .least = 1, .most = 1}},
          {checkpoint_format_option()}};
}

OptionTable checkpoint_verify_table() {
  return {{.command = "checkpoint verify",
           .summary = "check the checksum of checkpoints, and read each to its last byte.",
           .example = "rubato checkpoint verify runs/first runs/second",
           .notes = "One line for each checkpoint, of a directory for all its checkpoints. Exits"
                    " with 65 if any is bad,\nwith 66 if any is missing.",
           .positionals = {.names = "PATH...", .least = 1, .most = most_paths}},
          {}};
}

OptionTable checkpoint_digest_table() {
  return {{.command = "checkpoint digest",
           .summary = "verify checkpoints, and print the digest of the training state in each.",
           .example = "rubato checkpoint digest runs/first/checkpoints/ckpt-100.h5",
           .notes = "Of a directory the newest good checkpoint. The digest covers weights,"
                    " optimizer, rule and position: it is the same for every number of ranks."
                    " (sha256sum -c verifies the file itself.)",
           .positionals = {.names = "PATH...", .least = 1, .most = most_paths}},
          {}};
}

OptionTable checkpoint_diff_table() {
  return {{.command = "checkpoint diff",
           .summary = "where two training states differ, bit by bit.",
           .example = "rubato checkpoint diff runs/first runs/second",
           .notes = "Of a directory the newest good checkpoint. Compared is what the digest covers:"
                    " identity and context are not. Prints \"equal\" and exits with 0, or one line"
                    " for each difference and exits with 1.",
           .positionals = {.names = "A B", .least = 2, .most = 2}},
          {checkpoint_format_option()}};
}

}  // namespace rubato::app
