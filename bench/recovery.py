"""How long it takes to train again after a rank has died, and what checkpoints cost an epoch.

usage: recovery.py [--build build/bench] [--rounds 5] [--ranks 2] [--parts kills epoch]

`kills` trains `mnist` on Fashion-MNIST under plain mpirun, and again under `rubato launch`, and
kills a rank. Counted from the kill: until no rank of the job lives, and until an update is done
that had not been done before. `epoch` trains a multilayer perceptron of 25 million parameters for
an epoch of Fashion-MNIST into the working directory, with five checkpoints on the way and without,
in turn, on one rank (a core is free) and on --ranks. --quick leaves it out.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import measure
from measure import Failure, Figure
from rubato_train import ENVIRONMENT, Rubato, plural, require_fashion_mnist

SMALL = ["--data", "fashion-mnist", "--model", "mnist", "--batch-size", 64, "--epochs", 100,
         "--checkpoint-every", 200, "--lr", 0.01]
UPDATES_BEFORE_KILL = 500
LARGE = ["--data", "fashion-mnist", "--model", "mlp:3584,3584,2560", "--batch-size", 512,
         "--minibatch", 256, "--epochs", 1, "--lr", 0.01]
UPDATES_OF_LARGE = 117  # an epoch of 60000 samples
CHECKPOINTS = 5
EVERY = -(-UPDATES_OF_LARGE // (CHECKPOINTS + 1))  # no divisor: the end has a checkpoint anyway
NEVER = 1_000_000


def lines_of(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def last_update(file):
    """The number at the end of metrics that grow, without reading all of them."""
    try:
        with open(file, "rb") as metrics:
            metrics.seek(max(0, metrics.seek(0, os.SEEK_END) - 4096))
            lines = metrics.read().splitlines(keepends=True)[1:]
    except FileNotFoundError:
        return 0
    numbers = [json.loads(line)["update"] for line in lines
               if line.endswith(b"\n") and line.startswith(b'{"type":"update"')]
    return numbers[-1] if numbers else 0


def ranks_of(directory):
    """The living processes that train into this directory."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            state = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            continue
        is_rank = b"train" in words and str(directory).encode() in words
        is_launcher = any(b"mpirun" in word or word == b"launch" for word in words[:3])
        if is_rank and not is_launcher and state not in "ZX":
            found.append(int(process.name))
    return found


def seconds_until(what, condition, limit=60):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() > begin + limit:
            raise Failure(f"not within {limit} s: {what}")
        time.sleep(0.002)
    return time.monotonic() - begin


@contextlib.contextmanager
def started(command):
    """Ends the job with the block, whatever happens in it."""
    process = subprocess.Popen([str(word) for word in command], env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def kill_a_rank(command, is_supervised):
    """Seconds from the kill: until the job is gone, and until there is a new update."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch, "run")
        metrics = directory / "metrics.jsonl"
        with started([*command, "--out", directory]):
            seconds_until("updates", lambda: last_update(metrics) >= UPDATES_BEFORE_KILL)
            ranks = set(ranks_of(directory))
            os.kill(max(ranks), signal.SIGKILL)
            gone = seconds_until("the end of the job", lambda: not ranks & set(ranks_of(directory)))
            if not is_supervised:
                return gone, None
            done = last_update(metrics)  # the ranks that were left may have finished one more
            return gone, gone + seconds_until("a new update", lambda: last_update(metrics) > done)


def kill_figures(options):
    rubato = Rubato(options.build)
    launch = [rubato.program, "launch", "--ranks", options.ranks, "--", *SMALL]
    rounds = measure.in_turn(options.rounds, {
        "mpirun": lambda: kill_a_rank(rubato.command(options.ranks, *SMALL), False),
        "rubato launch": lambda: kill_a_rank(launch, True)})
    for name, seconds in rounds.items():
        yield Figure.of_rounds(f"{name}: from a rank's death to the job's end",
                               [gone for gone, _ in seconds], "s")
    yield Figure.of_rounds("rubato launch: from a rank's death to a new update",
                           [again for _, again in rounds["rubato launch"]], "s")


def epoch(rubato, ranks, checkpoint_every):
    """Seconds of the whole command, and the stalls at the checkpoints on the way."""
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        directory = pathlib.Path(scratch, "run")
        begin = time.monotonic()
        measure.run(rubato.command(ranks, *LARGE, "--checkpoint-every", checkpoint_every, "--out",
                                   directory), ENVIRONMENT)
        wall = time.monotonic() - begin
        stalls = [line["stall_seconds"] for line in lines_of(directory / "metrics.jsonl")
                  if line["type"] == "checkpoint" and 0 < line["update"] < UPDATES_OF_LARGE]
    expected = CHECKPOINTS if checkpoint_every == EVERY else 0
    if len(stalls) != expected:
        raise Failure(f"{len(stalls)} checkpoints on the way in place of {expected}")
    return wall, stalls


def epoch_figures(options, ranks):
    rubato = Rubato(options.build)
    rounds = measure.in_turn(options.rounds, {"without": lambda: epoch(rubato, ranks, NEVER),
                                              "with": lambda: epoch(rubato, ranks, EVERY)})
    walls = {name: [wall for wall, _ in side] for name, side in rounds.items()}
    yield Figure.of_rounds(f"{plural(ranks, 'rank')}: an epoch without checkpoints",
                           walls["without"], "s")
    yield Figure.of_rounds(
        f"{plural(ranks, 'rank')}: {CHECKPOINTS} checkpoints, beyond that",
        [100 * (ratio - 1) for ratio in measure.ratios(walls["with"], walls["without"])], "%")
    yield Figure.of_rounds(
        f"{plural(ranks, 'rank')}: training stands still at each",
        [1000 * stall for _, stalls in rounds["with"] for stall in stalls], "ms")


def run(options, report):
    require_fashion_mnist()
    if "kills" in options.parts:
        for figure in kill_figures(options):
            report.add(figure)
    if "epoch" in options.parts and not options.quick:
        for ranks in sorted({1, options.ranks}):
            for figure in epoch_figures(options, ranks):
                report.add(figure)


def parser():
    made = measure.parser(__doc__)
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--parts", nargs="+", choices=("kills", "epoch"), default=("kills", "epoch"))
    return made


if __name__ == "__main__":
    sys.exit(measure.main("recovery", parser(), run))
