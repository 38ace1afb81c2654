"""Whole updates of `rubato train`, as a fraction of what the cores can compute.

usage: train_throughput.py [--build build/bench] [--models MODEL ...] [--ranks 1 2]
                           [--substeps 1 4]

The arithmetic limit is the best matrix product that one core reaches (sgemm_bench, measured in
turn), times the ranks. Samples per second times the arithmetic of a sample (model_costs.py) is what
training reaches of it; what the layers do besides multiplying, the data, the sum over the ranks and
the optimizer are in the rest.
"""

import statistics
import sys

import measure
import model_costs
import rubato_train
from measure import Failure, Figure
from rubato_train import Case, Rubato

AT_LEAST = {"resnet20": 65, "mnist-tutorial": 60}  # per cent


def sgemm_flops(build):
    """Multiplications and additions per second of one core, by the best of the libraries."""
    found = measure.benchmarks(build / "bench" / "sgemm_bench", "--benchmark_min_time=0.2")
    return 1e9 * max(one["GFLOP/s"] for one in found)


def require_same_layers(rubato, case):
    """What is counted must be what is run: the parameters tell."""
    found = rubato.report(1, *case.options, "--updates", 1)["parameters"]
    if found != model_costs.parameters_of(case.model):
        raise Failure(f"{case.model} has {found} parameters, but model_costs.py counts "
                      f"{model_costs.parameters_of(case.model)}: describe the layers anew there")


def figure(options, rubato, case):
    updates = rubato.updates_in(case, options.seconds)
    rounds = measure.in_turn(options.rounds, {
        "peak": lambda: sgemm_flops(options.build),
        "speed": lambda: rubato.samples_per_second(case, updates)})
    flops = model_costs.flops_per_sample(case.model)
    reached = [100 * flops * speed / (case.ranks * peak)
               for speed, peak in zip(rounds["speed"], rounds["peak"])]
    speed, peak = statistics.median(rounds["speed"]), statistics.median(rounds["peak"])
    return Figure.of_rounds(
        f"{case}: of the arithmetic limit", reached, "%", at_least=AT_LEAST.get(case.model),
        note=f"{speed:.0f} samples/s of {flops / 1e6:.1f} MFLOP, a core {peak / 1e9:.0f} GFLOP/s")


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
