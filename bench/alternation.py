"""Trainings that take turns of 30 ms: while one goes on, the others are halted (SIGSTOP).

On a shared or virtual machine an update's time wanders by tens of per cent within a second, far
more than most of what is to be measured. Runs one after the other meet different moods of the
machine, short turns meet the same one. A halt may fall into an update: what counts are the samples
of all turns together, and how long they were.
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

import machine
from measure import Failure, Missing

TURN_SECONDS = 0.03
WINDOW_TURNS = 16  # of each side
LEAST_UPDATES = 12  # of a run: the first and the last turns do not count
ATTEMPTS = 3


class TooShort(Failure):
    """Of runs that were over before they had taken turns."""


@dataclasses.dataclass
class Mark:
    """What a run had done when it was halted."""

    samples: int
    seconds: float


def updates_in(seconds, update_seconds, slowest_update_seconds):
    """How many updates fill so many seconds, or as many as the run beside it needs at least."""
    return round(max(seconds, LEAST_UPDATES * slowest_update_seconds) / update_seconds)


class Run:
    """A training on one or more processes that writes a line of JSON for each update to `log`, as
    metrics.jsonl has them. Entered, it begins and goes on until it is halted after `warm_up`
    updates, and after its first checkpoint where it writes one at once; left, it is over.
    """

    def __init__(self, command, environment, log, warm_up, begins_with_checkpoint=False):
        self.command = [str(word) for word in command]
        self.environment, self.log = environment, pathlib.Path(log)
        self.process, self.pids = None, []
        self.awaited = {"update": warm_up, "checkpoint": int(begins_with_checkpoint)}
        self.bytes_read, self.samples, self.marks = 0, 0, []

    def __enter__(self):
        if not pathlib.Path("/proc/thread-self/children").exists():
            raise Missing("a kernel that tells of children in /proc (CONFIG_PROC_CHILDREN)")
        with contextlib.ExitStack() as if_it_fails:
            self.errors = if_it_fails.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))
            self.process = subprocess.Popen(self.command, env=self.environment,
                                            stdout=subprocess.DEVNULL, stderr=self.errors)
            if_it_fails.callback(self.end)
            while self.is_running and any(left > 0 for left in self.awaited.values()):
                time.sleep(0.01)
                for line in self.new_lines():
                    self.awaited[line["type"]] = self.awaited.get(line["type"], 0) - 1
            self.pids = descendants(self.process.pid) if self.is_running else []
            self.halt()
            if_it_fails.pop_all()
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

    def new_lines(self):
        """Those that are complete and have not been asked for before."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as log:
            log.seek(self.bytes_read)
            lines = log.read().rpartition(b"\n")
        self.bytes_read += sum(map(len, lines[:2]))
        return [json.loads(line) for line in lines[0].splitlines()]

    def new_samples(self):
        """Of updates that it has not been asked for before."""
        return sum(line["batch_size"] for line in self.new_lines() if line["type"] == "update")

    def mark(self, seconds):
        """That so many seconds of turns have passed, if an update has ended in the last of them."""
        samples = self.new_samples()
        if samples > 0:
            self.samples += samples
            self.marks.append(Mark(self.samples, seconds))

    def samples_per_second(self):
        """Between turns in which updates ended, but for the last, in which the run may have."""
        marks = self.marks[:-1]
        if len(marks) < 2:
            raise TooShort("the runs were too short to take turns, give them more --seconds: in "
                           f"{len(self.marks)} turns updates ended of {' '.join(self.command)}")
        return (marks[-1].samples - marks[0].samples) / (marks[-1].seconds - marks[0].seconds)

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


def turn_of(side):
    """How long its turn was, in seconds."""
    begin = time.perf_counter()
    for run in side:
        run.go_on()
    time.sleep(TURN_SECONDS)
    for run in side:
        run.halt()
    return time.perf_counter() - begin


def take_turns(sides):
    """Until the first run ends; the others then go on to their ends."""
    runs = list(itertools.chain(*sides))
    seconds = [0] * len(sides)
    while all(run.is_running for run in runs):
        for number, side in enumerate(sides):
            seconds[number] += turn_of(side)
            for run in side:
                run.mark(seconds[number])
    for run in runs:
        run.go_on()
    for run in runs:
        run.wait()


def window(sides):
    """The samples of each side in its next few turns, and how many seconds these were."""
    seconds = [0] * len(sides)
    for _ in range(WINDOW_TURNS):
        for number, side in enumerate(sides):
            seconds[number] += turn_of(side)
    for run in itertools.chain(*sides):
        if not run.is_running:
            run.wait()
            raise TooShort(f"over before its windows were: {' '.join(run.command)}")
    return [(sum(run.new_samples() for run in side), spent) for side, spent in zip(sides, seconds)]


def speeds_in_this_order(sides, windows):
    """Samples per second of each side, which begin one after the other: of all turns, or of so many
    windows in which cores were alike (machine.py). An update that goes on from one window into the
    next one is the next one's, whether that counts or not.
    """
    with contextlib.ExitStack() as begun:
        for run in itertools.chain(*sides):
            begun.enter_context(run)
        if windows is None:
            take_turns(sides)
            return [sum(run.samples_per_second() for run in side) for side in sides]
        for run in itertools.chain(*sides):
            run.new_samples()  # what ended before its first turn
        of_sides = zip(*machine.undisturbed_windows(lambda: window(sides), windows))
        return [sum(samples for samples, _ in side) / sum(seconds for _, seconds in side)
                for side in of_sides]


def speeds_if_not_too_short(make_sides, windows):
    """The same, of sides made anew for each attempt. On a loud machine long runs, too, were seen to
    be over too soon.
    """
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(TooShort):
            return speeds_in_this_order(make_sides(), windows)
    return speeds_in_this_order(make_sides(), windows)


def speeds(make_sides, windows=None):
    """Samples per second of each side: a list of runs that go on together, made anew for each of
    two measurements. In the second the sides begin in reverse: which begins first has its effects.
    `windows`: how many of each measurement count, if not all turns do.
    """
    forwards = speeds_if_not_too_short(make_sides, windows)
    backwards = speeds_if_not_too_short(lambda: make_sides()[::-1], windows)[::-1]
    return [statistics.harmonic_mean(both) for both in zip(forwards, backwards)]


def speeds_in_rounds(rounds, make_sides):
    """Each side's samples per second in all rounds; make_sides is given an empty directory."""
    def in_one():
        with contextlib.ExitStack() as made:
            def sides():
                return make_sides(pathlib.Path(made.enter_context(tempfile.TemporaryDirectory())))
            return speeds(sides)
    return list(zip(*(machine.undisturbed(in_one) for _ in range(rounds))))
