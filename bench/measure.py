"""What all measurements share: rounds in turn, figures beside their bars, a result and its context.

Sides take turns (A B A B ...), so that a change of the machine's mood meets all of them, and ratios
are of neighbours in time. A figure is the median over the rounds, with the lowest and the highest.
Each measurement is a script with measure(options, report); alone it prints its own table, and
run_all.py runs them all. A result file is JSON that begins with the context.
"""

import argparse
import contextlib
import dataclasses
import datetime
import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys

import machine

SKIPPED = 77
HEADING = f"{'figure':<63} {'median':>15}  {'lowest to highest round':<26} {'bar':<12} verdict"

TWO_CORES_SAY = (("two CPUs at once over one alone", "at_once", "x"),
                 ("the slower CPU's speed over the faster's", "slower_over_faster", "x"),
                 ("reading what the other CPU wrote", "gigabytes_per_second", "GB/s"))


class Missing(Exception):
    """Something that is not installed here; the text says what to install."""


class Failure(Exception):
    """A program that did not do what was asked of it."""


@dataclasses.dataclass
class Figure:
    """A number with the bar it is to clear, where there is one: at least, or at most, so much."""

    name: str
    value: float
    unit: str = ""
    lowest: float = None
    highest: float = None
    at_least: float = None
    at_most: float = None
    note: str = ""

    @classmethod
    def of_rounds(cls, name, values, unit="", **more):
        return cls(name, statistics.median(values), unit, min(values), max(values), **more)

    @property
    def bar(self):
        return self.at_most if self.at_least is None else self.at_least

    @property
    def is_clear(self):
        """Whether all rounds lie on one side of the bar; of five, they do not where it lies in the
        interval that has the true median in 15 of 16 cases.
        """
        if self.bar is None or self.lowest == self.highest:
            return None
        return not self.lowest <= self.bar <= self.highest

    @property
    def is_met(self):
        if self.at_least is not None:
            return self.value >= self.at_least
        return None if self.at_most is None else self.value <= self.at_most

    def text(self, value):
        digits = {"x": 2, "%": 1}.get(self.unit)
        number = (f"{value:.{digits}f}" if digits else
                  f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}")
        return f"{number} {self.unit}".strip()

    def row(self):
        spread = "" if self.lowest is None or self.lowest == self.highest else (
            f"{self.text(self.lowest)} to {self.text(self.highest)}")
        bar = "" if self.bar is None else (
            f"{'<=' if self.at_least is None else '>='} {self.text(self.bar)}")
        verdict = {None: "", True: "met", False: "MISSED"}[self.is_met]
        verdict += " ~" if self.is_clear is False else ""
        row = (f"{self.name:<63} {self.text(self.value):>15}  {spread:<26} {bar:<12} {verdict:<9}"
               f"{self.note}")
        return row.rstrip()


class Report:
    """The figures of one measurement: printed as they come, written as JSON at the end."""

    def __init__(self, title, options):
        self.title, self.options = title, options
        self.context = context(options)
        self.figures, self.details = [], {}

    def print_context(self):
        for name, value in self.context.items():
            print(f"# {name.replace('_', ' ')}: {value}", flush=True)

    def add(self, figure):
        if not self.figures:
            print(HEADING)
        self.figures.append(figure)
        print(figure.row(), flush=True)

    def skip(self, sentence):
        print(f"skipped: {sentence}", flush=True)

    def write(self):
        self.options.out.mkdir(parents=True, exist_ok=True)
        document = {"context": self.context, "measurement": self.title,
                    "figures": [{**dataclasses.asdict(figure), "is_met": figure.is_met,
                                 "is_clear": figure.is_clear} for figure in self.figures],
                    **self.details}
        file = self.options.out / f"{self.title}.json"
        file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def in_turn(rounds, sides, are_compared=True, watch_themselves=()):
    """What each side gives in each round, by its name; a side is called once a round, unless the
    round was disturbed, or the side, where sides are not compared with each other. Those of these
    that watch_themselves names look at the machine where it matters to them.
    """
    def in_one():
        if are_compared:
            return [measure_once() for measure_once in sides.values()]
        return [measure_once() if name in watch_themselves else machine.undisturbed(measure_once)
                for name, measure_once in sides.items()]
    results = [machine.undisturbed(in_one) if are_compared else in_one() for _ in range(rounds)]
    return dict(zip(sides, map(list, zip(*results))))


def ratios(over, under):
    return [a / b for a, b in zip(over, under)]


def run(command, environment=None):
    """The standard output of a program that must succeed."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    except OSError as error:
        raise Failure(f"cannot run {words[0]}: {error.strerror}") from error
    if done.returncode == SKIPPED:
        raise Missing(done.stdout.strip().removeprefix("skipped: "))
    if done.returncode != 0:
        raise Failure(f"{' '.join(words)}: exit status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def two_cores(build):
    """Its answer, where there are two CPUs."""
    with contextlib.suppress(Missing):
        return json.loads(run([build / "bench" / "two_cores"]))
    return None


def take(measure, options, report):
    """Lets measure(options, report) add its figures, and adds those of the machine."""
    watched = machine.Machine(lambda: two_cores(options.build), options.patience)
    try:
        with machine.watched(watched):
            measure(options, report)
    finally:
        if watched.answers:
            for name, key, unit in TWO_CORES_SAY:
                report.add(Figure.of_rounds(f"this machine: {name}", [
                    answer[key] for answer in watched.answers], unit, note=watched.note))


def benchmarks(program, *options):
    """The results of a Google Benchmark program, by name; on one thread."""
    text = run([program, "--benchmark_format=json", *options],
               {**os.environ, "OMP_NUM_THREADS": "1"})
    return json.loads(text)["benchmarks"]


def context(options):
    settings = {name: str(value) for name, value in vars(options).items()}
    return {"host": platform.node(), "cpu": cpu_fact("model name"), "cores": cores(),
            "load_average": round(os.getloadavg()[0], 2),
            "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            **build_facts(options.build), "open_mpi": package_version("libopenmpi3"),
            "onednn": package_version("libdnnl2"), "eigen": package_version("libeigen3-dev"),
            "pytorch": python_version_of("torch"), "kernel": platform.release(),
            "options": ", ".join(f"{name} {value}" for name, value in settings.items())}


@functools.cache
def build_facts(build):
    """Version, revision, compiler, build type and flags, as a run of the program reports them."""
    text = run([build / "app" / "rubato", "train", "--data", "synthetic:samples=64", "--model",
                "linear", "--batch-size", 32, "--updates", 1, "--format", "json"],
               {**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"})
    facts = json.loads(text)["context"]
    return {"rubato": f"{facts['version']} ({facts['revision']})",
            **{name: facts[name] for name in ("compiler", "build_type", "flags", "kernels")}}


def package_version(package):
    with contextlib.suppress(OSError):
        done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    return "not known"


def python_version_of(module):
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(module)
    return "not installed"


def cores():
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def cpu_fact(name):
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown"


def parser(description, rounds=5, seconds=3, models=None):
    """With the options that every measurement has, and --models where there is a default."""
    made = argparse.ArgumentParser(description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--build", type=pathlib.Path, default="build/bench",
                      help="of the preset bench (default %(default)s)")
    made.add_argument("--out", type=pathlib.Path, help="for results (default BUILD/results)")
    made.add_argument("--rounds", type=int, default=rounds)
    made.add_argument("--seconds", type=float, default=seconds,
                      help="of a side, each time that it is measured")
    if models:
        made.add_argument("--models", nargs="+", default=models)
    made.add_argument("--patience", type=float, default=600, metavar="SECONDS",
                      help="to wait in, and to measure again, while CPUs share a core "
                           "(default %(default)s)")
    made.add_argument("--quick", action="store_true", help="one short round, of fewer cases")
    return made


def settle(options):
    """What one option says of others."""
    if options.quick:
        options.rounds, options.seconds, options.patience = 1, 0.5, 0
    options.build = options.build.resolve()
    options.out = options.out or options.build / "results"
    return options


def end_in_order_when_terminated():
    """So that what is under way ends too, even if it is halted."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def main(title, made_parser, measure):
    end_in_order_when_terminated()
    options = settle(made_parser.parse_args())
    try:
        report = Report(title, options)
        report.print_context()
        take(measure, options, report)
        report.write()
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except Failure as failure:
        sys.exit(str(failure))
    return 0
