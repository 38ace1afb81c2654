"""How long it takes to train again after a rank has died, and what checkpoints cost an epoch.

usage: recovery.py --rubato build/release/app/rubato [--rounds 5] [--ranks 2] [--skip-epoch]
                   [--skip-kills]

The first part trains `mnist` on Fashion-MNIST under `rubato launch`, and again under plain mpirun,
and kills a rank. Counted from the kill: until no rank of the job lives, and until an update is
done that had not been done before. The second part trains a multilayer perceptron of 25 million
parameters for an epoch of Fashion-MNIST, with five checkpoints beside the training and without, in
turn, on one rank (a core is free) and on as many as there are cores.
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none"}
SMALL = ["--data", "fashion-mnist", "--model", "mnist", "--batch-size", "64", "--epochs", "100",
         "--checkpoint-every", "200", "--lr", "0.01"]
LARGE = ["--data", "fashion-mnist", "--model", "mlp:3584,3584,2560", "--batch-size", "512",
         "--minibatch", "256", "--epochs", "1", "--lr", "0.01"]
UPDATES_OF_LARGE = 117  # an epoch of 60000 samples
CHECKPOINTS = 5


def lines_of(file):
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def last_update(file):
    """The number at the end of the metrics, without reading all of them."""
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


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("nothing happens")
        time.sleep(0.002)
    return time.monotonic()


def kill_a_rank(command, directory, is_supervised):
    """Seconds from the kill: until the job is gone, until there is a new update."""
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        metrics = directory / "metrics.jsonl"
        wait_until(lambda: last_update(metrics) >= 500)
        ranks = ranks_of(directory)
        start = time.monotonic()
        os.kill(ranks[-1], signal.SIGKILL)
        done = last_update(metrics)
        gone = wait_until(lambda: not set(ranks) & set(ranks_of(directory))) - start
        if not is_supervised:
            process.wait()
            return gone, None
        again = wait_until(lambda: last_update(metrics) > done) - start
        process.send_signal(signal.SIGTERM)
        process.wait()
    return gone, again


def seconds_of_epoch(rubato, ranks, more):
    with tempfile.TemporaryDirectory(dir=".") as directory:
        run = pathlib.Path(directory, "run")
        begin = time.monotonic()
        subprocess.run(["mpirun", "-q", "-n", str(ranks), rubato, "train", *LARGE, "--out", run,
                        *more], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - begin
        lines = lines_of(run / "metrics.jsonl")
    updates = [line["seconds"] for line in lines if line["type"] == "update"]
    stalls = [line["stall_seconds"] for line in lines if line["type"] == "checkpoint"]
    return wall, sum(updates), stalls


def compare_epochs(rubato, ranks, rounds):
    every = str(-(-UPDATES_OF_LARGE // CHECKPOINTS))
    with_them, without = [], []
    for _ in range(rounds):
        without.append(seconds_of_epoch(rubato, ranks, [])[0])
        wall, _, stalls = seconds_of_epoch(rubato, ranks, ["--checkpoint-every", every])
        with_them.append(wall)
    ratios = [a / b for a, b in zip(with_them, without)]
    print(f"{ranks} rank(s): {statistics.median(without):.2f} s without, "
          f"{statistics.median(with_them):.2f} s with {len(stalls) - 1} checkpoints: "
          f"{100 * (statistics.median(ratios) - 1):+.1f} % "
          f"({100 * (min(ratios) - 1):+.1f} ... {100 * (max(ratios) - 1):+.1f}); training stood "
          f"still for {1000 * statistics.median(stalls):.0f} ms at each", flush=True)


def measure_kills(options):
    for name, launcher in (("mpirun", ["mpirun", "-q", "-n", str(options.ranks), options.rubato,
                                       "train", *SMALL]),
                           ("rubato launch", [options.rubato, "launch", "--ranks",
                                              str(options.ranks), "--", *SMALL])):
        gone, again = [], []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as directory:
                run = pathlib.Path(directory, "run")
                one = kill_a_rank([*launcher, "--out", str(run)], run, "launch" in name)
            gone.append(one[0])
            again.append(one[1])
        text = f"{name}: a rank is killed -> the job is gone after {statistics.median(gone):.2f} s"
        if "launch" in name:
            text += (f", a new update is done after {statistics.median(again):.2f} s "
                     f"({min(again):.2f} ... {max(again):.2f})")
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rubato", required=True, help="the program, from a release build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--skip-epoch", action="store_true", help="the first part only")
    parser.add_argument("--skip-kills", action="store_true", help="the second part only")
    options = parser.parse_args()
    print(f"# {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, medians of {options.rounds}")
    if not options.skip_kills:
        measure_kills(options)
    if not options.skip_epoch:
        for ranks in sorted({1, options.ranks}):
            compare_epochs(options.rubato, ranks, options.rounds)


if __name__ == "__main__":
    main()
