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
import itertools
import pathlib
import statistics
import sys
import tempfile

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


def products(build, core, seconds, slowest, directory):
    """A run of them on one core, beside one whose updates take so long."""
    backend, product_seconds = best_product(build)
    number = alternation.updates_in(seconds, product_seconds, max(slowest, product_seconds))
    log = directory / f"products-{core}.jsonl"
    command = ["taskset", "--cpu-list", core, build / "bench" / "sgemm_turns", backend,
               number + WARM_UP_PRODUCTS, log]
    return Run(command, ENVIRONMENT, log, WARM_UP_PRODUCTS)


def require_same_layers(rubato, case):
    """What is counted must be what is run: the parameters tell."""
    found = rubato.report(1, *case.options, "--updates", 1)["parameters"]
    if found != model_costs.parameters_of(case.model):
        raise Failure(f"{case.model} has {found} parameters, but model_costs.py counts "
                      f"{model_costs.parameters_of(case.model)}: describe the layers anew there")


def figure(options, rubato, case):
    update_seconds = rubato.update_seconds(case)
    slowest = max(update_seconds, best_product(options.build)[1])
    updates = alternation.updates_in(options.seconds, update_seconds, slowest)
    cores = [rank % measure.cores() for rank in range(case.ranks)]

    def speeds():
        with tempfile.TemporaryDirectory() as directory:
            def sides(number=itertools.count()):
                here = pathlib.Path(directory, str(next(number)))
                here.mkdir()
                return [[rubato.run(case, updates, here / "rubato")],
                        [products(options.build, core, options.seconds, update_seconds, here)
                         for core in cores]]
            return alternation.speeds(sides)

    ours, peaks = zip(*measure.in_turn(options.rounds, {"speeds": speeds})["speeds"])
    mflop = model_costs.flops_per_sample(case.model) / 1e6
    core_gflops = statistics.median(peaks) / case.ranks / 1e3
    return Figure.of_rounds(
        f"{case}: of the arithmetic limit", [100 * mflop * ratio for ratio in
                                             measure.ratios(ours, peaks)],
        "%", at_least=AT_LEAST.get(case.model),
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
