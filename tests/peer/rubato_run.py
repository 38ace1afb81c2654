"""Runs `rubato train` over MPI and reads back, with other people's tools, what it did.

The program comes in the environment variable RUBATO_COMMAND, mpirun in RUBATO_MPIEXEC.
"""

import dataclasses
import json
import os
import pathlib
import subprocess

import h5py
import numpy

RANKS = 2
SEED = 1


@dataclasses.dataclass
class Update:
    batch_size: int
    minibatches: list  # of arrays of sample indices


@dataclasses.dataclass
class Run:
    updates: list
    losses: list  # training loss of each update
    initial: dict  # tensors by name
    final: dict
    evaluation: dict  # loss and accuracy after the last update


def train(directory, data, model, batch_sizes, epoch_end, *options):
    """A training run of one trace row an update, in an empty directory."""
    directory = pathlib.Path(directory)
    trace = directory / "trace.csv"
    rows = "".join(f"{i},{size}\n" for i, size in enumerate(batch_sizes))
    trace.write_text("step,batchsize\n" + rows, encoding="utf-8")
    plan = ["--data", data, "--trace", trace, "--epoch-end", epoch_end, "--seed", SEED]
    output = directory / "run"
    call(os.environ["RUBATO_MPIEXEC"], "-q", "-n", RANKS, os.environ["RUBATO_COMMAND"], "train",
         *plan, "--model", model, "--out", output, *options)
    lines = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    checkpoints = output / "checkpoints"
    return Run(
        updates=planned_updates(plan),
        losses=[line["loss"] for line in lines if line["type"] == "update"],
        initial=tensors_of(checkpoints / "ckpt-0.h5"),
        final=tensors_of(checkpoints / f"ckpt-{len(batch_sizes)}.h5"),
        evaluation=[line for line in lines if line["type"] == "eval"][-1])


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def planned_updates(plan):
    """The plan as lists of indices; what an update carries into the next epoch is joined."""
    document = json.loads(call(os.environ["RUBATO_COMMAND"], "plan", *plan, "--ranks", RANKS,
                               "--indices", "--format", "json"))
    updates = []
    for epoch in document["epochs"]:
        order = numpy.array(epoch["order"])
        for step in epoch["steps"]:
            ends = step["begin"] + numpy.cumsum(step["sizes"])
            minibatches = [order[end - size:end] for end, size in zip(ends, step["sizes"])]
            if step.get("carried_from"):
                updates[-1].minibatches += minibatches
            else:
                updates.append(Update(step["batch_size"], minibatches))
    return updates


def tensors_of(checkpoint):
    with h5py.File(checkpoint, "r") as file:
        return {name: tensor[()] for name, tensor in file["model"].items()}
