"""What a second rank brings, and what exact sums, rules, optimizers, batches and timelines cost.

usage: overheads.py [--build build/bench] [--rounds 5] [--seconds 3] [--models MODEL ...]
                    [--only WORDS ...]

--only runs those comparisons alone whose names have one of WORDS: for more rounds in the same time.

The ways to run a model that are compared take short turns (alternation.py), anew in each round.
One minibatch of 32 for each rank in an update, but for the changing batch: 64, 192, 128 in turn,
beside 128 throughout, and beside as many updates of each size, which may take longer than those of
128 even if nothing changes. The exact sum beside itself shows what this way of measuring can tell
apart.
What a second rank can bring at best is what a second run brings that has nothing to do with the
first: cores share caches, memory and, on a virtual machine, neighbours. And ranks wait at every
update for the one that was held up: if two runs that have nothing to do with each other did so too,
which their updates' times tell, that would cost them what no synchronous training is spared. One
rank is measured on each of the cores, and of all turns of one and two ranks those count in which
the cores were equally fast (machine.py): two ranks go as the slower one does.
"""

import concurrent.futures
import dataclasses
import functools
import itertools
import math
import pathlib
import statistics
import sys
import tempfile

import alternation
import machine
import measure
from measure import Figure
from rubato_train import MODELS, WARM_UP_UPDATES, Case, Rubato

RANKS = 2
ALONE = tuple(f"alone on core {core}" for core in range(RANKS))
CHANGING_BATCH = (64, 192, 128)
CHANGING_AT_MOST = 2
SCALING_AT_LEAST = 1.9
SCALING_SECONDS = 600  # of turns, at most: runs are ended when enough of them counted
OVERHEADS = (  # a name, a way to run the model, the way beside it, the most % that it may add
    ("exact sum, beyond itself", "usual", "usual", None),
    ("exact sum, beyond the fast one", "usual", "fast", 1),
    ("AdaScale, beyond the linear rule", "adascale", "usual", 2),
    ("AdamScale, beyond Adam by the linear rule", "adamscale", "adam", 2),
    ("choosing the batch, beyond the linear rule", "adaptive", "usual", 2),
    ("LARS, beyond SGD with momentum", "lars", "usual", 2),
    ("a timeline, beyond none", "timeline", "usual", 1))
AT_MOST_OF = {("mlp:512,512", "fast"): 8}  # it computes least for each parameter


def write_trace(file, updates):
    rows = itertools.islice(itertools.cycle(CHANGING_BATCH), updates)
    file.write_text("step,batchsize\n" + "".join(f"{i},{b}\n" for i, b in enumerate(rows)),
                    encoding="ascii")


@dataclasses.dataclass
class Way:
    """A case, options beside its own, such that say how large batches are, if not the case, and the
    core of a lone run.
    """

    case: Case
    options: tuple = ()
    batches: tuple = ()
    core: int | None = None


class Ways:
    """All ways to run a model, for about so many seconds."""

    def __init__(self, rubato, model, seconds, directory):
        self.rubato, self.seconds = rubato, seconds
        self.directories = (directory / str(number) for number in itertools.count())
        alone, together = Case(model, 1, 1), Case(model, 1, RANKS)
        constant = {size: Case(model, size // together.batch_size, RANKS)
                    for size in CHANGING_BATCH}
        mean = constant[statistics.mean(CHANGING_BATCH)]
        self.update_seconds = {case: rubato.update_seconds(case)
                               for case in (alone, together, *constant.values())}
        batch, minibatch = together.batch_size, together.minibatch
        adaptive = f"max={batch},local={minibatch}:{minibatch},initial={batch}"  # always decides so
        trace = directory / "trace.csv"
        slowest = max(self.update_seconds, key=self.update_seconds.get)
        write_trace(trace, WARM_UP_UPDATES + self.updates_of(mean, slowest))
        self.by_name = {
            **{name: Way(alone, core=core % measure.cores()) for core, name in enumerate(ALONE)},
            "usual": Way(together),
            "fast": Way(together, ("--sum", "fast")),
            "adaptive": Way(together, ("--rule", "adascale"), ("--adaptive", adaptive)),
            "adascale": Way(together, ("--rule", "adascale")),
            "adam": Way(together, ("--optimizer", "adam")),
            "adamscale": Way(together, ("--optimizer", "adam", "--rule", "adamscale")),
            "lars": Way(together, ("--optimizer", "lars")),
            "timeline": Way(together, ("--timeline", directory / "timeline.json")),
            **{f"batch {size}": Way(case) for size, case in constant.items()},
            "changing": Way(mean, (), ("--trace", trace))}

    def speeds(self, *sides):
        """Samples per second; a side is the names of one way, or of several at once."""
        sides = [[self.by_name[name] for name in side] for side in sides]
        slowest = max((way.case for way in itertools.chain(*sides)), key=self.update_seconds.get)
        return alternation.speeds(lambda: [
            [self.run(way, self.updates_of(way.case, slowest)) for way in side] for side in sides])

    def speeds_on_cores_alike(self, *sides):
        """The same, of turns in which the cores were equally fast."""
        windows = math.ceil(self.seconds / (alternation.WINDOW_TURNS * alternation.TURN_SECONDS))

        def run(name):
            way = self.by_name[name]
            return self.run(way, math.ceil(SCALING_SECONDS / self.update_seconds[way.case]))
        return alternation.speeds(lambda: [list(map(run, side)) for side in sides], windows)

    def updates_at_once(self, names):
        """What each update took, in seconds, of lone runs that go on together."""
        ways = [self.by_name[name] for name in names]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return list(pool.map(lambda way: self.rubato.updates(
                way.case, self.updates_of(way.case), core=way.core), ways))

    def run(self, way, updates):
        return self.rubato.run(way.case, updates, next(self.directories), *way.options,
                               batches=way.batches, core=way.core)

    def updates_of(self, case, slowest=None):
        """How many, beside runs of the case whose updates are slowest."""
        own = self.update_seconds[case]
        return alternation.updates_in(self.seconds, own, self.update_seconds[slowest or case])


def scaling(ways):
    """Samples per second of a round: of both ranks over one, of two lone runs over one, of two that
    wait for each other over one, and of both ranks over two lone runs. One is the mean of a run on
    each core, which may differ.
    """
    *each, apart, both = ways.speeds_on_cores_alike(*([name] for name in ALONE), ALONE, ["usual"])
    alone = statistics.mean(each)
    waiting = apart * of_speed_if_waiting(*machine.undisturbed(
        lambda: ways.updates_at_once(ALONE)))
    return both / alone, apart / alone, waiting / alone, both / apart


def of_speed_if_waiting(*runs):
    """The part of their speed that is left to runs, given as the seconds of their updates, if none
    begins an update before all have ended the one before.
    """
    apart = sum(1 / statistics.mean(run) for run in runs)
    return len(runs) / statistics.mean(map(max, *runs)) / apart


def overhead(ways, way, beside):
    """Per cent, in a round."""
    speed, speed_beside = ways.speeds([way], [beside])
    return 100 * (speed_beside / speed - 1)


def changing_batch(ways):
    """Per cent, in a round: beyond the constant batch, beyond constant batches of its sizes."""
    changing, *constant = ways.speeds(["changing"], *([f"batch {size}"] for size in CHANGING_BATCH))
    speed_of = dict(zip(CHANGING_BATCH, constant))
    return tuple(100 * (speed / changing - 1) for speed in (
        speed_of[statistics.mean(CHANGING_BATCH)], speed_of_mixed(speed_of)))


def speed_of_mixed(speed_of):
    """Samples per second where updates take turns: from those of each batch size alone."""
    return sum(speed_of) / sum(size / speed for size, speed in speed_of.items())


def scaling_figures(model, rounds):
    of_two, apart, waiting, both_of_apart = zip(*rounds)
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} ranks over 1 rank", of_two, "x",
                           at_least=SCALING_AT_LEAST)
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} lone runs at once over one", apart, "x")
    yield Figure.of_rounds(f"{model}: the same, if they waited for each other", waiting, "x")
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} ranks over {RANKS} lone runs at once",
                           both_of_apart, "x")


def changing_batch_figures(model, rounds):
    beyond_constant, beyond_its_sizes = zip(*rounds)
    yield Figure.of_rounds(f"{model}: batch changes at every update, beyond constant",
                           beyond_constant, "%", at_most=CHANGING_AT_MOST)
    yield Figure.of_rounds(f"{model}: the same, beyond constant batches of its sizes",
                           beyond_its_sizes, "%")


def overhead_figures(model, rounds, what, beside, at_most):
    yield Figure.of_rounds(f"{model}: {what}", rounds, "%",
                           at_most=AT_MOST_OF.get((model, beside), at_most))


# What a round of a comparison measures, of the ways, and its figures, of the model and all rounds.
COMPARISONS = {
    "scaling": (scaling, scaling_figures),
    "changing batch": (changing_batch, changing_batch_figures),
    **{what: (functools.partial(overhead, way=way, beside=beside),
              functools.partial(overhead_figures, what=what, beside=beside, at_most=at_most))
       for what, way, beside, at_most in OVERHEADS}}


def comparisons(words):
    """Those that have one of the words in their names, or all if there are none."""
    for word in words or ():
        if not any(word in name for name in COMPARISONS):
            sys.exit(f'overheads.py: --only: no comparison has "{word}" in its name; there are: '
                     + "; ".join(COMPARISONS))
    return {name: comparison for name, comparison in COMPARISONS.items()
            if not words or any(word in name for word in words)}


def run(options, report):
    chosen = comparisons(options.only)
    rubato = Rubato(options.build)
    report.details["rounds"] = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as directory:
            ways = Ways(rubato, model, options.seconds, pathlib.Path(directory))
            rounds = measure.in_turn(options.rounds, {
                name: functools.partial(measured, ways)
                for name, (measured, _) in chosen.items()},
                are_compared=False, watch_themselves=["scaling"])
        report.details["rounds"][model] = rounds
        for name, (_, figures) in chosen.items():
            for figure in figures(model, rounds[name]):
                report.add(figure)


def parser():
    made = measure.parser(__doc__, models=MODELS)
    made.add_argument("--only", nargs="+", metavar="WORDS")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("overheads", parser(), run))
