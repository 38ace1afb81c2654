// See prove_options.hpp.
#include "app/prove_options.hpp"

#include <random>
#include <sstream>
#include <utility>

#include "app/failure.hpp"
#include "app/job_options.hpp"
#include "app/option_value.hpp"
#include "app/train_options.hpp"

namespace rubato::app {
namespace {

std::vector<Option> kill_options() {
  const std::string group = "Kills";
  return {
      {.name = "kills",
       .kind = OptionKind::integer,
       .default_value = "10",
       .value_name = "N",
       .group = group,
       .description = "how often the run is killed; fewer than it has updates"},
      {.name = "seed",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "of the kills, not of the training; default random, and printed",
       .range = OptionRange::not_negative},
      {.name = "ranks",
       .value_name = "N,N,...",
       .group = group,
       .description = "what the number of ranks of every start is drawn from; default 1 to the"
                      " cores here and one more"},
      {.name = "straight-ranks",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "of the run that is not killed; default the first of --ranks"},
      {.name = "checkpoint-every",
       .kind = OptionKind::integer,
       .value_name = "N",
       .group = group,
       .description = "updates between checkpoints of the killed run; default so that about three"
                      " lie between two kills"},
      launcher_option(group),
  };
}

std::vector<Option> proof_output_options() {
  const std::string group = "Output";
  return {
      {.name = "keep-runs",
       .value_name = "DIR",
       .group = group,
       .description = "keep both runs in this new directory; default a temporary one, removed if"
                      " they are equal"},
      {.name = "format",
       .kind = OptionKind::choice,
       .default_value = "text",
       .group = group,
       .description = "for people, or one JSON document",
       .choices = {"text", "json"}},
  };
}

// What prove says to `rubato train` itself.
constexpr const char* own_options[] = {
    "out",         "resume",           "overwrite", "checkpoint-every", "stop-after-update",
    "max-seconds", "preempt-exit-code"};

void check_train_options(const std::vector<std::string>& words) {
  const Options train = train_table().parse(words);
  if (train.wants_help()) throw UsageError("prove: see `rubato train --help`");
  if (train.has_value("adaptive")) {
    throw UsageError(
        "prove: --adaptive chooses batch sizes by how long updates take, so no two runs are the"
        " same; what repeats one is: --replay DIR");
  }
  for (const char* name : own_options) {
    const bool is_given = train.is_given(name);
    if (!is_given) continue;
    throw UsageError("prove: leave --" + std::string(name) +
                     " out of the options of the training: prove gives its own");
  }
}

std::vector<std::uint64_t> all_rank_counts() {
  std::vector<std::uint64_t> counts;
  for (std::uint64_t ranks = 1; ranks <= cores_here() + 1; ++ranks) counts.push_back(ranks);
  return counts;
}

}  // namespace

OptionTable prove_table() {
  std::vector<Option> options = kill_options();
  for (auto& option : proof_output_options()) options.push_back(std::move(option));
  return {
      {.command = "prove",
       .summary = "kill a training again and again, and show that its result is the same.",
       .example = "rubato prove --kills 20 --ranks 1,2,3 -- \\\n"
                  "    --data fashion-mnist --model mnist --trace trace.csv --rule adascale",
       .notes =
           "TRAIN OPTIONS (after --) are those of `rubato train`, without --out. The training"
           " runs\ntwice: once to its end, and once through kills at random updates, each start"
           " going on from\nthe newest checkpoint on another number of ranks. Then the two are"
           " compared: the digests of\ntheir last checkpoints, the samples of every epoch, and"
           " every update's line in metrics.jsonl.\n\nA kill is SIGKILL to a rank, or to mpirun,"
           " SIGTERM or SIGUSR1 to mpirun; some come at the start,\nsome while a checkpoint is"
           " written. A run too fast for signals also stops by itself\n(--stop-after-update)."
           "\n\nExits with 0 if the runs are equal, with 70 if not; with the training's own code"
           " if that fails\nwithout a kill.",
       .rest = "-- TRAIN OPTIONS",
       .alternatives = {}},
      std::move(options)};
}

std::vector<std::uint64_t> parse_rank_list(const std::string& text) {
  std::vector<std::uint64_t> ranks;
  std::istringstream in(text + ",");
  for (std::string word; std::getline(in, word, ',');) {
    const auto number = parse_whole<std::uint64_t>(word);
    if (!number || *number == 0) {
      throw UsageError("--ranks \"" + text +
                       "\": expected numbers of ranks with commas between, such as 1,2,3");
    }
    ranks.push_back(*number);
  }
  return ranks;
}

ProvePlan prove_plan(const Options& options, const std::vector<std::string>& train) {
  check_train_options(train);
  const auto ranks = options.text_if("ranks");
  ProvePlan plan{.launcher = launcher_words(options),
                 .train = train,
                 .kills = options.integer("kills"),
                 .seed = options.integer_if("seed").value_or(std::random_device{}()),
                 .ranks = ranks ? parse_rank_list(*ranks) : all_rank_counts(),
                 .checkpoint_every = options.integer_if("checkpoint-every"),
                 .kept_directory = options.text_if("keep-runs"),
                 .wants_json = options.text("format") == "json"};
  plan.straight_ranks = options.integer_if("straight-ranks").value_or(plan.ranks.front());
  for (const auto count : plan.ranks) require_room_for(count, "--ranks", plan.launcher);
  require_room_for(plan.straight_ranks, "--straight-ranks", plan.launcher);
  return plan;
}

}  // namespace rubato::app
