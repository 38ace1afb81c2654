"""Runs every measurement, prints one table of all figures, and says which bars are missed.

usage: run_all.py [--build build/bench] [--rounds N] [--seconds S] [--quick]

Whole trainings first, then single functions; --rounds and --seconds are for the scripts, which have
defaults of their own. --quick takes one short round of each and leaves out the long studies; its
figures say that everything works, not how fast it is. What cannot run here is skipped with a line
that says what to install. Each measurement leaves a file in BUILD/results.
"""

import os
import sys
import traceback

import adaptive_study
import adascale_study
import allreduce
import growing_batch
import measure
import network_step
import optimizer_step
import overheads
import performance_model
import recovery
import rubato_train
import startup_and_memory
import train_throughput
import update_costs
import update_phases
import vs_pytorch
from measure import HEADING, Failure, Missing, Report

SCRIPTS = {"train_throughput": train_throughput, "vs_pytorch": vs_pytorch, "overheads": overheads,
           "optimizer_step": optimizer_step, "startup_and_memory": startup_and_memory,
           "update_phases": update_phases, "allreduce": allreduce, "network_step": network_step,
           "update_costs": update_costs, "performance_model": performance_model}
LONG_SCRIPTS = {"growing_batch": growing_batch, "recovery": recovery,
                "adascale_study": adascale_study, "adaptive_study": adaptive_study}


def programs(options):
    """What prints for itself: a name, and the command."""
    binaries, quick = options.build / "bench", options.quick
    least = "--benchmark_min_time=" + ("0.01" if quick else "0.2")
    yield "layers_bench", [binaries / "layers_bench", least]
    yield "sums_bench", [binaries / "sums_bench", least]
    yield "optimizers_bench", [binaries / "optimizers_bench", least]
    yield "allreduce_bench", ["mpirun", "-q", "-n", 2, binaries / "allreduce_bench",
                              *(["--rounds=11", 1000, 272474] if quick else [])]
    yield "checkpoint_bench", [binaries / "checkpoint_bench", 1_000_000 if quick else 25_000_000]


def options_of(script, options):
    """The script's own, with what was asked of all."""
    words = ["--build", str(options.build), "--out", str(options.out)]
    for name in ("rounds", "seconds", "patience"):
        if getattr(options, name) is not None:
            words += [f"--{name}", str(getattr(options, name))]
    made = script.parser() if hasattr(script, "parser") else measure.parser(script.__doc__)
    return measure.settle(made.parse_args(words + ["--quick"] * options.quick))


def attempt(report, work):
    """Whether the work was done or skipped, rather than failed."""
    print(f"\n{report.title}", flush=True)
    try:
        work()
    except Missing as missing:
        report.skip(str(missing))
    except Exception as error:  # whatever breaks one measurement must not take the others along
        traceback.print_exc()
        print(f"failed: {error}", flush=True)
        return False
    finally:
        report.write()
    return True


def run_program(report, command):
    report.details["output"] = measure.run(command, rubato_train.ENVIRONMENT).splitlines()
    print("\n".join("  " + line for line in report.details["output"]), flush=True)


def print_table(reports):
    print(f"\n\nall figures\n\n{HEADING}")
    for report in reports:
        for figure in report.figures:
            print(figure.row())
    with_bar = [figure for report in reports for figure in report.figures
                if figure.is_met is not None]
    missed = [figure for figure in with_bar if not figure.is_met]
    print(f"\n{len(with_bar) - len(missed)} of {len(with_bar)} bars are met")


def main():
    measure.end_in_order_when_terminated()
    options = measure.settle(measure.parser(__doc__, rounds=None, seconds=None).parse_args())
    reports, all_went_well = [], True
    Report("run_all", options).print_context()
    if os.getloadavg()[0] > measure.cores() / 2:
        print("# this machine is busy with something else: these figures will mean little")
    for title, script in (SCRIPTS if options.quick else SCRIPTS | LONG_SCRIPTS).items():
        own = options_of(script, options)
        reports.append(Report(title, own))
        all_went_well &= attempt(reports[-1], lambda: measure.take(script.run, own, reports[-1]))
    for title, command in programs(options):
        report = Report(title, options)
        all_went_well &= attempt(report, lambda: run_program(report, command))
    print_table(reports)
    print(f"Results: {options.out}")
    return 0 if all_went_well else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(str(failure))
