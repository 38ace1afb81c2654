"""How far does the accuracy follow when the batch grows from 32 to 1024?

usage: adascale_study.py [--build build/bench] [--data fashion-mnist] [--epochs 5] [--seeds 1 2 3]
                         [--ranks 2] [--lr 0.05]

AdaScale against linear scaling, on Fashion-MNIST. Three runs for each seed: batch 32 throughout
(the baseline), AdaScale on a trace that doubles the batch up to 1024, and the linear rule on the
same trace. All end at the same scale-invariant progress, the baseline's number of updates, and
share one cosine schedule that counts in it. The linear rule counts progress by the same gains, so
it stops at the same place. --quick takes one seed and one epoch.
"""

import json
import pathlib
import statistics
import sys
import tempfile

import measure
from measure import Figure
from rubato_train import ENVIRONMENT, Rubato, require_fashion_mnist

SMALLEST = 32
LARGEST = 1024


def write_trace(path, baseline_updates):
    """An eighth of the baseline's updates at 32, half as many at each doubling."""
    rows, batch, count = [], SMALLEST, baseline_updates // 8
    while batch <= LARGEST:
        rows += [batch] * max(1, count)
        batch, count = 2 * batch, count // 2
    lines = [f"{step},{size}\n" for step, size in enumerate(rows)]
    path.write_text("".join(["step,batchsize\n", *lines]), encoding="ascii")


def train(options, seed, *more):
    result = Rubato(options.build).report(
        options.ranks, "--data", options.data, "--model", "mnist", "--lr", options.lr,
        "--reference-batch", SMALLEST, "--schedule", "cosine", "--schedule-by", "progress",
        "--seed", seed, *more)
    last = result["evaluations"][-1]
    return {"accuracy": 100 * last["accuracy"], "progress": last["scaled_updates"],
            "updates": result["end"]["updates"], "seconds": result["end"]["seconds"]}


def minibatches_of_epoch(options):
    plan = measure.run([options.build / "app" / "rubato", "plan", "--data", options.data, "--ranks",
                        1, "--batch-size", SMALLEST, "--epochs", 1, "--format", "json"],
                       ENVIRONMENT)
    return json.loads(plan)["minibatches_per_epoch"]


def train_all(options):
    """The runs of each way, one a seed."""
    progress = options.epochs * minibatches_of_epoch(options)
    end = ["--span", progress, "--until-progress", progress]
    results = {"baseline": [], "adascale": [], "linear": []}
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory, "trace.csv")
        write_trace(trace, progress)
        growing = ["--trace", trace, "--trace-end", "repeat-last", *end]
        for seed in options.seeds:
            results["baseline"].append(train(options, seed, "--batch-size", SMALLEST, *end))
            for rule in ("adascale", "linear"):
                results[rule].append(train(options, seed, "--rule", rule, *growing))
    return results


def figures(results):
    for name, runs in results.items():
        mean = {fact: statistics.mean(one[fact] for one in runs) for fact in runs[0]}
        yield Figure.of_rounds(
            f"{name}: test accuracy", [one["accuracy"] for one in runs], "%",
            note=f"means: {mean['accuracy']:.2f} %, {mean['updates']:.0f} updates, "
                 f"{mean['seconds']:.1f} s")
    baseline = [one["accuracy"] for one in results["baseline"]]
    for rule in ("adascale", "linear"):
        yield Figure.of_rounds(
            f"{rule}: test accuracy, beyond the baseline's of the same seed",
            [one["accuracy"] - base for one, base in zip(results[rule], baseline)], "points")


def run(options, report):
    if options.data == "fashion-mnist":
        require_fashion_mnist()
    if options.quick:
        options.seeds, options.epochs = options.seeds[:1], 1
    report.details["runs"] = train_all(options)
    for figure in figures(report.details["runs"]):
        report.add(figure)


def parser():
    made = measure.parser(__doc__)
    made.add_argument("--data", default="fashion-mnist")
    made.add_argument("--epochs", type=int, default=5)
    made.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--lr", type=float, default=0.05)
    return made


if __name__ == "__main__":
    sys.exit(measure.main("adascale_study", parser(), run))
