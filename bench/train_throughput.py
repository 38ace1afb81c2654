"""Whole updates of `rubato train`, as a fraction of what the cores can compute.

usage: train_throughput.py [--build build/bench] [--models MODEL ...] [--ranks 1 2]
                           [--substeps 1 4]

The arithmetic limit is what matrix products reach on the same cores, in short turns with the
training (alternation.py): those of the library that is best at it when alone (sgemm_bench). Samples
per second times the arithmetic of a sample (model_costs.py) is what training reaches of it; what
the layers do besides multiplying, the data, the sum over the ranks and the optimizer are in the
rest.
"""

import functools
import statistics
import sys

import alternation
import measure
import model_costs
import rubato_train
from alternation import Run
from measure import Failure, Figure
from rubato_train import ENVIRONMENT, Case, Rubato

AT_LEAST = {"resnet20": 65, "mnist-tutorial": 60}  # per cent
WARM_UP_PRODUCTS = 2


@functools.cache
def best_product(build):
    """The backend whose matrix products are fastest, and the seconds of one."""
    found = min(measure.benchmarks(build / "bench" / "sgemm_bench", "--benchmark_min_time=0.2"),
                key=lambda one: one["real_time"])
    return found["name"].split("/")[1], 1e-3 * found["real_time"]


def products(build, core, number, directory):
    """A run of so many of them on one core."""
    log = directory / f"products-{core}.jsonl"
    command = ["taskset", "--cpu-list", core, build / "bench" / "sgemm_turns",
               best_product(build)[0], number + WARM_UP_PRODUCTS, log]
    return Run(command, ENVIRONMENT, log, WARM_UP_PRODUCTS)


def require_same_layers(rubato, case):
    """What is counted must be what is run: the parameters tell."""
    found = rubato.report(1, *case.options, "--updates", 1)["parameters"]
    if found != model_costs.parameters_of(case.model):
        raise Failure(f"{case.model} has {found} parameters, but model_costs.py counts "
                      f"{model_costs.parameters_of(case.model)}: describe the layers anew there")


def figure(options, rubato, case):
    seconds_of_one = rubato.update_seconds(case), best_product(options.build)[1]
    updates, number = (alternation.updates_in(options.seconds, one, max(seconds_of_one))
                       for one in seconds_of_one)
    ours, peaks = alternation.speeds_in_rounds(options.rounds, lambda directory: [
        [rubato.run(case, updates, directory / "rubato")],
        [products(options.build, rank % measure.cores(), number, directory)
         for rank in range(case.ranks)]])
    mflop = model_costs.flops_per_sample(case.model) / 1e6
    core_gflops = statistics.median(peaks) / case.ranks / 1e3
    reached = [100 * mflop * ratio for ratio in measure.ratios(ours, peaks)]
    return Figure.of_rounds(
        f"{case}: of the arithmetic limit", reached, "%", at_least=AT_LEAST.get(case.model),
        note=f"{statistics.median(ours):.0f} samples/s of {mflop:.1f} MFLOP, a core "
             f"{core_gflops:.0f} GFLOP/s")


def run(options, report):
    rubato = Rubato(options.build)
    for model in options.models:
        require_same_layers(rubato, Case(model))
    for case in rubato_train.cases(options):
        report.add(figure(options, rubato, case))


def parser():
    return rubato_train.case_parser(__doc__)


if __name__ == "__main__":
    sys.exit(measure.main("train_throughput", parser(), run))
