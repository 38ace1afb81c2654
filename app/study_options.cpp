// See study_options.hpp.
#include "app/study_options.hpp"

#include "app/job_options.hpp"

namespace rubato::app {

OptionTable study_table() {
  const std::string group = "Study";
  return {
      {.command = "study",
       .summary = "train every cell of a grid, and draw the table.",
       .example = "rubato study batches.ini --dry-run\n"
                  "  rubato study batches.ini",
       .notes =
           "FILE.ini:\n"
           "  [study]\n"
           "  name = batches\n"
           "  out = runs/batches          # where it goes; default the name\n"
           "  base-batch = 64             # of the formulas; default the smallest there is\n"
           "  [common]                    # options of rubato train, for every cell\n"
           "  data = digits\n"
           "  epochs = 10\n"
           "  lr = 0.05 * k               # + - * / ( ) min max sqrt, batch, base_batch,\n"
           "                              # k = batch / base_batch\n"
           "  [grid]                      # every combination is a cell\n"
           "  batch-size = 64, 128, 256\n"
           "  seed = 1, 2, 3\n"
           "  [variant with-lars]         # options that go together; each with every combination\n"
           "  optimizer = lars\n"
           "  trust = 0.02\n\n"
           "Every cell is a run of its own in OUT/cells, that rubato train could go on with. The"
           " same command\ngoes on after whatever ended the study: cells that are finished stay,"
           " one that was broken off is\nresumed. A cell that diverges is a result. No two cells"
           " share a permutation of the samples: their\n--seed is made of the file's and of the"
           " cell's name.\n\nOUT/results.md, results.csv and results.json have the results, their"
           " times in columns of their own;\neverything else in them is the same whenever and on"
           " however many ranks the study runs.\nAt the end OUT/report.html shows it all, with "
           "plots"
           " (drawn by gnuplot, Debian package\ngnuplot-nox); until then rubato report OUT draws"
           " what there is.",
       .positionals = {.names = "FILE.ini", .least = 1, .most = 1}},
      {{.name = "ranks",
        .kind = OptionKind::integer,
        .value_name = "N",
        .group = group,
        .description = "of every cell; default the cores here"},
       {.name = "dry-run",
        .kind = OptionKind::flag,
        .group = group,
        .description = "check the file, print the cells and how long they will take, and run"
                       " nothing"},
       launcher_option(group)}};
}

StudyPlan study_plan(const Options& options) {
  StudyPlan plan{.file = options.positionals()[0],
                 .launcher = launcher_words(options),
                 .ranks = options.integer_if("ranks").value_or(cores_here()),
                 .is_dry_run = options.flag("dry-run")};
  require_room_for(plan.ranks, "--ranks", plan.launcher);
  return plan;
}

}  // namespace rubato::app
