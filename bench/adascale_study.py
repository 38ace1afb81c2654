#!/usr/bin/python3
"""How far does the accuracy follow when the batch grows from 32 to 1024?

AdaScale against linear scaling, on Fashion-MNIST. Three runs for each seed: batch 32 throughout
(the baseline), AdaScale on a trace that doubles the batch up to 1024, and the linear rule on the
same trace. All end at the same scale-invariant progress, the baseline's number of updates, and
share one cosine schedule that counts in it. The linear rule counts progress by the same gains, so
it stops at the same place.

usage: adascale_study.py [--rubato COMMAND] [--data fashion-mnist] [--epochs 5] [--seeds 1,2,3]
                         [--ranks 2]
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

LARGEST = 1024
SMALLEST = 32


def write_trace(path, baseline_updates):
    """An eighth of the baseline's updates at 32, half as many at each doubling."""
    rows, batch, count = [], SMALLEST, baseline_updates // 8
    while batch <= LARGEST:
        rows += [batch] * max(1, count)
        batch, count = 2 * batch, count // 2
    with open(path, "w", encoding="ascii") as file:
        file.write("step,batchsize\n")
        file.writelines(f"{step},{size}\n" for step, size in enumerate(rows))


def run(arguments, seed, *options):
    command = ["mpirun", "-q", "-n", str(arguments.ranks), "--bind-to", "none", arguments.rubato,
               "train", "--data", arguments.data, "--model", "mnist", "--lr", arguments.lr,
               "--reference-batch", str(SMALLEST), "--schedule", "cosine",
               "--schedule-by", "progress", "--seed", str(seed), "--format", "json", *options]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(finished.stdout)
    last = result["evaluations"][-1]
    return {"accuracy": 100 * last["accuracy"], "progress": last["scaled_updates"],
            "updates": result["end"]["updates"], "seconds": result["end"]["seconds"]}


def report(results):
    print("run        test accuracy (mean, range)     updates   seconds")
    for name, runs in results.items():
        accuracy = [one["accuracy"] for one in runs]
        print(f"{name:<10} {statistics.mean(accuracy):6.2f} %"
              f"  ({min(accuracy):.2f} ... {max(accuracy):.2f})"
              f"  {statistics.mean(one['updates'] for one in runs):10.0f}"
              f"  {statistics.mean(one['seconds'] for one in runs):8.1f}")
    baseline = statistics.mean(one["accuracy"] for one in results["baseline"])
    for rule in ("adascale", "linear"):
        mean = statistics.mean(one["accuracy"] for one in results[rule])
        print(f"{rule} - baseline: {mean - baseline:+.2f} points")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rubato", default="build/release/app/rubato")
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--lr", default="0.05")
    arguments = parser.parse_args()
    if os.geteuid() == 0:
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")

    plan = subprocess.run([arguments.rubato, "plan", "--data", arguments.data, "--ranks", "1",
                           "--batch-size", str(SMALLEST), "--epochs", "1", "--format", "json"],
                          check=True, stdout=subprocess.PIPE, text=True)
    progress = arguments.epochs * json.loads(plan.stdout)["minibatches_per_epoch"]
    end = ["--span", str(progress), "--until-progress", str(progress)]
    results = {"baseline": [], "adascale": [], "linear": []}
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, "trace.csv")
        write_trace(trace, progress)
        growing = ["--trace", trace, "--trace-end", "repeat-last", *end]
        for seed in map(int, arguments.seeds.split(",")):
            results["baseline"].append(run(arguments, seed, "--batch-size", str(SMALLEST), *end))
            for rule in ("adascale", "linear"):
                results[rule].append(run(arguments, seed, "--rule", rule, *growing))
            print(f"seed {seed}: " + ", ".join(f"{name} {runs[-1]['accuracy']:.2f} %"
                                               for name, runs in results.items()),
                  file=sys.stderr, flush=True)
    print(f"{arguments.data}, model mnist, {arguments.ranks} ranks, batch {SMALLEST} -> {LARGEST},"
          f" lr {arguments.lr}, progress {progress}, seeds {arguments.seeds}")
    report(results)


if __name__ == "__main__":
    main()
