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
from measure import Failure, Figure
from rubato_train import MODELS, Case, Rubato

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
    if options.quick:
        options.substeps = options.substeps[:1]
    rubato = Rubato(options.build)
    for model in options.models:
        require_same_layers(rubato, Case(model))
        for ranks in options.ranks:
            for substeps in options.substeps:
                report.add(figure(options, rubato, Case(model, substeps, ranks)))


def parser():
    made = measure.parser(__doc__, models=MODELS)
    made.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    made.add_argument("--substeps", type=int, nargs="+", default=[1, 4])
    return made


if __name__ == "__main__":
    sys.exit(measure.main("train_throughput", parser(), run))
