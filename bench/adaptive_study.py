"""How long until a test accuracy: a batch that chooses itself, beside fixed ones.

usage: adaptive_study.py [--build build/bench] [--seeds 1 2 3] [--epochs 2] [--target 88]
                         [--rate 100mbit] [--lr 0.02] [--rounds 2] [--seconds 3] [--keep DIR]

Fashion-MNIST, model mnist-tutorial, two ranks, on one host and on two behind a slow link (network
namespaces, tests/cluster). AdaScale everywhere, its rate given for a batch of 64; all runs end at
the progress of --epochs epochs at 64 and share one cosine schedule that counts in it.

A fixed batch gives the same bits wherever it runs, so its accuracies are found once a seed, on one
host, and only the time of its updates is measured on each network, --rounds times before the
adaptive run of each seed and as often after it: a machine is not as fast at all hours. The best
fixed batch is the one with the least mean time over the seeds; beside 64 the slowest seed counts.
An adaptive run depends on times, so it is run on each network, and its own updates count.

On one host an adaptive run that stays at 64 takes the time of 64 and a few per cent beyond, which
runs one after the other show in a quiet hour only: the same updates were seen to take 17 ms in one
half minute and 23 in the next. So there each run is also held against itself: its time counts in
its own updates of 64, and they take what choosing adds to one, measured in turns of 30 ms.

--keep leaves each run's report in DIR, and does not repeat those that are there.
--quick takes one seed, two fixed batches and a fifth of an epoch.
"""

import functools
import json
import pathlib
import statistics
import sys
import tempfile

import measure
import overheads
from measure import Figure, Missing
from rubato_train import WARM_UP_UPDATES, Case, Rubato, require_fashion_mnist
from update_costs import RUN_ON_HOSTS

MODEL = "mnist-tutorial"
INITIAL, LARGEST = 64, 1028
FIXED = (64, 128, 256, 512, 1024)
LOCAL = (32, 128)  # bounds of a minibatch
RANKS = 2
SAMPLES = 60000
EVALUATE_EVERY = 3000  # samples
TIMED_UPDATES = 10  # at least


class Study:
    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.rubato = Rubato(options.build)
        self.networks = {"one host": ()}
        self.networks[f"two hosts, {options.rate}"] = (
            RUN_ON_HOSTS, "--hosts", 2, "--ranks-per-host", 1, "--rate", options.rate)

    def training(self, seed):
        progress = round(self.options.epochs * SAMPLES / INITIAL)
        return ["--data", "fashion-mnist", "--model", MODEL, "--rule",
                "adascale", "--reference-batch", INITIAL, "--lr", self.options.lr,
                "--schedule", "cosine", "--schedule-by", "progress", "--span", progress,
                "--until-progress", progress, "--seed", seed, "--evaluate-every", EVALUATE_EVERY]

    def kept(self, name, make):
        """The report of that name, or a new one."""
        path = self.directory / f"{name.replace(' ', '-').replace(',', '')}.json"
        if not path.exists():
            path.write_text(json.dumps(make()), encoding="ascii")
        return json.loads(path.read_text(encoding="ascii"))

    def fixed(self, batch, seed):
        return self.kept(f"batch {batch}, seed {seed}", lambda: self.rubato.report(
            RANKS, *self.training(seed), "--batch-size", batch, "--minibatch",
            minibatch_of(batch)))

    def adaptive(self, network, seed):
        return self.kept(f"adaptive, {network}, seed {seed}", lambda: self.rubato.report(
            RANKS, *self.training(seed), "--adaptive", f"max={LARGEST},"
            f"local={LOCAL[0]}:{LOCAL[1]},initial={INITIAL}", launcher=self.networks[network]))

    def seconds_of_updates(self, network, batches, seed, when):
        """Of each batch, round by round, the mean update: an adaptive run's updates are added up,
        those that were held up too.
        """
        found = self.kept(f"updates {when}, {network}, seed {seed}",
                          lambda: self.measure_updates(network, batches))
        return {batch: found[str(batch)] for batch in batches}

    def measure_updates(self, network, batches):
        def seconds(case, updates):
            return statistics.mean(self.rubato.updates(case, updates,
                                                       launcher=self.networks[network]))

        def side(batch):
            minibatch = minibatch_of(batch)
            case = Case(MODEL, batch // minibatch // RANKS, RANKS, minibatch)
            updates = self.rubato.updates_in(case, self.options.seconds, self.networks[network])
            return functools.partial(seconds, case, max(updates, TIMED_UPDATES))

        return measure.in_turn(self.options.rounds, {batch: side(batch) for batch in batches})

    def adaptive_beside_fixed(self, network, batches, seed):
        """The adaptive run's report, and what an update of each batch took before and after it."""
        before = self.seconds_of_updates(network, batches, seed, "before")
        report = self.adaptive(network, seed)
        after = self.seconds_of_updates(network, batches, seed, "after")
        return report, {batch: statistics.median(before[batch] + after[batch])
                        for batch in batches}

    def price_of_choosing(self, seed):
        """What an update of batch 64 takes on one host where the batch chooses itself, as times of
        one where it is fixed. It has nothing but 64 to choose: its speed is to stay the same. So
        what a search among more takes is not in it: some microseconds (performance_model.py).
        """
        def per_cent():
            with tempfile.TemporaryDirectory() as directory:
                ways = overheads.Ways(self.rubato, MODEL, self.options.seconds,
                                      pathlib.Path(directory))
                return statistics.median(overheads.overhead(ways, "adaptive", "adascale")
                                         for _ in range(self.options.rounds))

        return 1 + self.kept(f"per cent of choosing, seed {seed}", per_cent) / 100


def minibatch_of(batch):
    return min(LOCAL[1], batch // RANKS)


def updates_to(report, target):
    """How many updates a run took to the accuracy; None: it never came there."""
    for one in report["evaluations"]:
        if 100 * one["accuracy"] >= target:
            return one["update"]
    return None


def final_accuracy(report):
    return 100 * report["evaluations"][-1]["accuracy"]


def seconds_to(report, target, seconds_of_update=None):
    """What its updates took until then: each what was measured, or all the same."""
    updates = updates_to(report, target)
    if updates is None:
        return float("inf")
    if seconds_of_update is not None:
        return updates * seconds_of_update
    return sum(update["seconds"] for update in report["updates"][:updates])


def initial_times(report, initial, target):
    """How many times as long as the run of batch 64 a run took that began so, by its own updates of
    64: whatever the machine did meanwhile was done to them too.
    """
    own, least = updates_to(report, target), updates_to(initial, target)
    if least is None:
        return 0
    seconds_of_64 = [update["seconds"] for update in report["updates"][WARM_UP_UPDATES:own]
                     if update["batch_size"] == INITIAL]
    return seconds_to(report, target) / (least * statistics.mean(seconds_of_64))


def compare(study, network, fixed, report):
    """The figures of one network."""
    options = study.options
    costs, runs = [], []
    for seed in options.seeds:
        one, cost = study.adaptive_beside_fixed(network, fixed, seed)
        runs.append(one)
        costs.append(cost)
    times = {batch: [seconds_to(one, options.target, cost[batch])
                     for one, cost in zip(fixed[batch], costs)] for batch in fixed}
    for batch, taken in times.items():
        cost = statistics.median(cost[batch] for cost in costs)
        report.add(Figure.of_rounds(f"{network}: batch {batch} to {options.target} %", taken,
                                    "s", note=f"{1000 * cost:.1f} ms an update"))
    best = min(times, key=lambda batch: statistics.mean(times[batch]))
    seconds = [seconds_to(one, options.target) for one in runs]
    report.add(Figure.of_rounds(f"{network}: adaptive to {options.target} %", seconds, "s",
                                note=", ".join(str(one["evaluations"][-1]["batch_size"])
                                               for one in runs) + " at the end"))
    report.add(Figure.of_rounds(f"{network}: adaptive, time of the best fixed batch ({best})",
                                measure.ratios(seconds, times[best]), "x", at_most=1.1))
    name = f"{network}: adaptive, time of batch {INITIAL}"
    add_slowest(report, name, measure.ratios(seconds, times[INITIAL]))
    if not study.networks[network]:
        add_slowest(report, f"{name}, by its own updates", [
            initial_times(one, initial, options.target) * study.price_of_choosing(seed)
            for one, initial, seed in zip(runs, fixed[INITIAL], options.seeds)])
    report.add(Figure.of_rounds(
        f"{network}: adaptive, final accuracy beyond that of batch {INITIAL}",
        [final_accuracy(one) - final_accuracy(base) for one, base in zip(runs, fixed[INITIAL])],
        "points", at_least=-0.3))


def add_slowest(report, name, values):
    report.add(Figure(f"{name}, slowest seed", max(values), "x", min(values), max(values),
                      at_most=1.05))


def run(options, report):
    require_fashion_mnist()
    batches = FIXED
    if options.quick:
        options.seeds, options.epochs, options.rounds, batches = options.seeds[:1], 0.2, 1, (
            INITIAL, FIXED[-1])
    with tempfile.TemporaryDirectory() as directory:
        study = Study(options, pathlib.Path(options.keep or directory))
        study.directory.mkdir(parents=True, exist_ok=True)
        fixed = {batch: [study.fixed(batch, seed) for seed in options.seeds]
                 for batch in batches}
        for batch, runs in fixed.items():
            report.add(Figure.of_rounds(f"batch {batch}: final accuracy",
                                        [final_accuracy(one) for one in runs], "%",
                                        note=f"{runs[0]['end']['updates']} updates"))
        for network in study.networks:
            try:
                compare(study, network, fixed, report)
            except Missing as missing:
                report.skip(f"{network}: {missing}")


def parser():
    made = measure.parser(__doc__, rounds=2)
    made.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    made.add_argument("--epochs", type=float, default=2)
    made.add_argument("--target", type=float, default=88, help="test accuracy in %%")
    made.add_argument("--rate", default="100mbit", help="of each host's link (default %(default)s)")
    made.add_argument("--lr", type=float, default=0.02)
    made.add_argument("--keep", metavar="DIR")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("adaptive_study", parser(), run))
