"""What a second rank brings, and what exact sums, rules, optimizers, batches and timelines cost.

usage: overheads.py [--build build/bench] [--rounds 5] [--seconds 3] [--models MODEL ...]

All ways to run a model take turns. Where something happens seldom, each is the time of all its
updates together (an update is summed twice when the units of the exact sum must change; a batch is
chosen now and then); what every update does alike is the median of its updates, which neighbours in
time disturb less. One minibatch of 32 for each rank in an update, but for the changing batch: 64,
192, 128 in turn, beside 128 throughout. What a second rank can bring at best is what a second run
brings that has nothing to do with the first: cores share caches, memory and, on a virtual machine,
neighbours.
"""

import concurrent.futures
import functools
import itertools
import pathlib
import statistics
import sys
import tempfile

import measure
from measure import Figure
from rubato_train import MODELS, WARM_UP_UPDATES, Case, Rubato

RANKS = 2
CHANGING_BATCH = (64, 192, 128)
SCALING_AT_LEAST = 1.9
OVERHEADS = (  # a name, a way to run the model, the way beside it, the most per cent it may add
    ("exact sum, beyond the fast one", "together", "fast", 1),
    ("AdaScale, beyond the linear rule", "adascale", "usual", 2),
    ("AdamScale, beyond Adam by the linear rule", "adamscale", "adam", 2),
    ("choosing the batch, beyond the linear rule", "adaptive", "together", 2),
    ("LARS, beyond SGD with momentum", "lars", "usual", 2),
    ("a timeline, beyond none", "timeline", "usual", 1),
    ("batch changes at every update, beyond constant", "changing", "larger", 2))
AT_MOST_OF = {("mlp:512,512", "together"): 8}  # it computes least for each parameter


def write_trace(file, updates):
    rows = itertools.islice(itertools.cycle(CHANGING_BATCH), updates + WARM_UP_UPDATES)
    file.write_text("step,batchsize\n" + "".join(f"{i},{b}\n" for i, b in enumerate(rows)),
                    encoding="ascii")


def rounds_of(options, rubato, model, directory):
    """Seconds of a sample in each round, for each way to run the model."""
    alone, together, larger = Case(model, 1, 1), Case(model, 1, RANKS), Case(model, 2, RANKS)
    updates = rubato.updates_in(together, options.seconds)
    updates += -updates % len(CHANGING_BATCH)
    batch, minibatch = together.batch_size, together.minibatch
    adaptive = f"max={batch},local={minibatch}:{minibatch},initial={batch}"  # it always decides so
    trace = directory / "trace.csv"
    write_trace(trace, updates)

    def side(case, *more, of=statistics.mean, **how):
        return lambda: of(rubato.updates(case, updates, *more, **how)) / case.batch_size

    usual = functools.partial(side, together, of=statistics.median)

    def apart():
        with concurrent.futures.ThreadPoolExecutor(RANKS) as pool:
            seconds = list(pool.map(lambda run: run(), [side(alone)] * RANKS))
        return statistics.mean(seconds) / RANKS

    return measure.in_turn(options.rounds, {
        "alone": side(alone), "apart": apart, "together": side(together),
        "fast": side(together, "--sum", "fast"),
        "adaptive": side(together, "--rule", "adascale", batches=("--adaptive", adaptive)),
        "usual": usual(),
        "adascale": usual("--rule", "adascale"),
        "adam": usual("--optimizer", "adam"),
        "adamscale": usual("--optimizer", "adam", "--rule", "adamscale"),
        "lars": usual("--optimizer", "lars"),
        "timeline": usual("--timeline", directory / "timeline.json"),
        "larger": side(larger),
        "changing": side(larger, batches=("--trace", trace, "--trace-end", "repeat-last"))})


def figures(model, rounds):
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} ranks over 1 rank",
                           measure.ratios(rounds["alone"], rounds["together"]), "x",
                           at_least=SCALING_AT_LEAST)
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} lone runs at once over one",
                           measure.ratios(rounds["alone"], rounds["apart"]), "x")
    yield Figure.of_rounds(f"{model}: samples/s of {RANKS} ranks over {RANKS} lone runs at once",
                           measure.ratios(rounds["apart"], rounds["together"]), "x")
    for what, way, than, at_most in OVERHEADS:
        more = [100 * (ratio - 1) for ratio in measure.ratios(rounds[way], rounds[than])]
        yield Figure.of_rounds(f"{model}: {what}", more, "%",
                               at_most=AT_MOST_OF.get((model, way), at_most))


def run(options, report):
    rubato = Rubato(options.build)
    report.details["seconds_per_sample"] = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as directory:
            rounds = rounds_of(options, rubato, model, pathlib.Path(directory))
        report.details["seconds_per_sample"][model] = rounds
        for figure in figures(model, rounds):
            report.add(figure)


def parser():
    return measure.parser(__doc__, models=MODELS)


if __name__ == "__main__":
    sys.exit(measure.main("overheads", parser(), run))
