"""Trainings that take turns of a few updates: while one goes on, the others are halted (SIGSTOP).

On a shared or virtual machine an update's time wanders by tens of per cent within a second, far
more than most of what is to be measured. Runs one after the other meet different moods of the
machine; turns of 50 ms meet the same one, and the ratio of neighbouring turns tells the runs apart
to a per cent. The update that a halt falls into is not counted: it is as long as the halt.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import tempfile
import time

from measure import Failure

LEAST_SECONDS_OF_A_TURN = 0.05
UPDATES_OF_A_TURN = 5
LEAST_UPDATES = 3  # of a turn that counts
LEAST_TURNS = 6  # of a run


@dataclasses.dataclass
class Update:
    seconds: float
    samples: int


def turn_seconds(update_seconds):
    """How long a turn must be for updates that take so long."""
    return max(LEAST_SECONDS_OF_A_TURN, UPDATES_OF_A_TURN * update_seconds)


def updates_in(seconds, turn, update_seconds):
    """How many updates fill so many seconds, or as many as it takes to have some turns."""
    return round(max(seconds, LEAST_TURNS * turn) / update_seconds)


class Run:
    """A training on one or more processes that writes a line of JSON for each update to `log`, as
    metrics.jsonl has them. Entered, it begins and goes on until it is halted after `warm_up`
    updates; left, it is over.
    """

    def __init__(self, command, environment, log, warm_up):
        self.command = [str(word) for word in command]
        self.environment, self.log, self.warm_up = environment, pathlib.Path(log), warm_up
        self.process, self.pids = None, []

    def __enter__(self):
        with contextlib.ExitStack() as if_it_fails:
            self.errors = if_it_fails.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            self.process = subprocess.Popen(self.command, env=self.environment,
                                            stdout=subprocess.DEVNULL, stderr=self.errors)
            if_it_fails.callback(self.end)
            while self.is_running and len(self.updates()) < self.warm_up:
                time.sleep(0.01)
            if_it_fails.pop_all()
        self.pids = descendants(self.process.pid) if self.is_running else []
        self.halt()
        return self

    def __exit__(self, *error):
        self.end()
        self.errors.close()

    def end(self):
        if self.is_running:
            self.pids = descendants(self.process.pid)
            self.send(signal.SIGTERM)
            self.go_on()
            self.process.wait()

    @property
    def is_running(self):
        return self.process.poll() is None

    def halt(self):
        self.send(signal.SIGSTOP)

    def go_on(self):
        self.send(signal.SIGCONT)

    def send(self, number):
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def updates(self):
        if not self.log.exists():
            return []
        lines = self.log.read_text(encoding="utf-8").splitlines(keepends=True)
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [Update(one["seconds"], one["batch_size"]) for one in found
                if one["type"] == "update"]

    def wait(self):
        """For the end, which must be a good one."""
        code = self.process.wait()
        if code != 0:
            self.errors.seek(0)
            raise Failure(f"{' '.join(self.command)}: exit status {code}: "
                          f"{self.errors.read().strip()}")


def descendants(pid):
    """The process and all that it and its children have started."""
    found = [pid]
    with contextlib.suppress(OSError):  # it may just have ended
        for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text(encoding="ascii").split():
                found += descendants(int(child))
    return found


def turns_of(updates, turn):
    """Seconds of a sample in each turn of so many seconds, but the first, which began before all
    runs had, and the last; None for a turn with too few updates.
    """
    turns = [[]]
    for update in updates:
        if update.seconds > turn / 2:  # halted in it
            turns.append([])
        else:
            turns[-1].append(update)
    return [sum(one.seconds for one in some) / sum(one.samples for one in some)
            if len(some) >= LEAST_UPDATES else None for some in turns[1:-1]]


def take_turns(sides, turn):
    """Until the first run ends; the others then go on to their ends."""
    runs = list(itertools.chain(*sides))
    while all(run.is_running for run in runs):
        for side in sides:
            for run in side:
                run.go_on()
            time.sleep(turn)
            for run in side:
                run.halt()
    for run in runs:
        run.go_on()
    for run in runs:
        run.wait()


def seconds_per_sample(sides, turn):
    """What a sample took in each turn, for each side: a list of runs that go on together."""
    with contextlib.ExitStack() as begun:
        for run in itertools.chain(*sides):
            begun.enter_context(run)
        take_turns(sides, turn)
        turns = [[together(at_once) for at_once in
                  zip(*(turns_of(run.updates(), turn) for run in side))] for side in sides]
    full = [neighbours for neighbours in zip(*turns) if None not in neighbours]
    if not full:
        raise Failure("the runs were too short to take turns: give them more --seconds")
    return list(zip(*full))


def together(seconds_of_runs):
    """Of a sample, where runs go on at the same time."""
    return None if None in seconds_of_runs else 1 / sum(1 / one for one in seconds_of_runs)


def typical_ratio(over, under):
    """Of neighbouring turns; what happens seldom does not count."""
    return statistics.median(a / b for a, b in zip(over, under))


def whole_ratio(over, under):
    """Of all turns together."""
    return sum(over) / sum(under)
