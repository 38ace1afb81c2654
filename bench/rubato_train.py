"""Runs `rubato train` as a user does: alone, to read what each update took, or beside others.

Alone, an update's time is rank 0's, as the report says it: from asking for the data to the last
barrier. Planning the next update and reporting fall between updates, evaluations too.
"""

import dataclasses
import json
import os
import pathlib
import statistics

import measure
from alternation import Run
from measure import Missing
from model_costs import IMAGE_28, IMAGE_32

MINIBATCH = 32
WARM_UP_UPDATES = 3  # first touches of memory, and the exact sum's search for its units
LEAST_UPDATES = 5
MODELS = ("mnist", "mnist-tutorial", "mlp:512,512", "resnet20")
FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")  # of dataset-fashion-mnist
ENVIRONMENT = {  # as root, as in containers, mpirun wants to be told twice
    **os.environ, "OMP_NUM_THREADS": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "HWLOC_COMPONENTS": os.environ.get("HWLOC_COMPONENTS", "-gl"),
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@dataclasses.dataclass(frozen=True)
class Case:
    """A model, how many minibatches each rank runs in an update, and on how many ranks."""

    model: str
    substeps: int = 1
    ranks: int = 1
    minibatch: int = MINIBATCH

    @property
    def batch_size(self):
        return self.minibatch * self.substeps * self.ranks

    @property
    def options(self):
        return [*self.options_without_batch, "--batch-size", self.batch_size]

    @property
    def options_without_batch(self):
        return ["--model", self.model, "--minibatch", self.minibatch, "--lr", 0.01,
                *data_of(self.model)]

    def __str__(self):
        return f"{self.model}, {plural(self.ranks, 'rank')}, {plural(self.substeps, 'substep')}"


def cases(options):
    """Those that --models, --ranks and --substeps ask for; with --quick one number of substeps."""
    return [Case(model, substeps, ranks) for model in options.models for ranks in options.ranks
            for substeps in options.substeps[:1 if options.quick else None]]


def case_parser(description):
    """With the options that cases() reads."""
    made = measure.parser(description, models=MODELS)
    made.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    made.add_argument("--substeps", type=int, nargs="+", default=[1, 4])
    return made


class Rubato:
    """The program, started by mpirun or by what stands in for it. Where its ranks run is left to
    mpirun, as users do: up to two are bound to a core each.
    """

    def __init__(self, build):
        self.program = build / "app" / "rubato"

    def command(self, ranks, *options, core=None):
        """One rank may be sent to another core than the first, where other runs go on."""
        where = [] if core is None else ["--cpu-set", core]
        return ["mpirun", "-q", *where, "-n", ranks, self.program, "train", *options]

    def report(self, ranks, *options, launcher=(), core=None):
        """The run's JSON document; `launcher` takes the place of mpirun."""
        command = self.command(ranks, *options, "--format", "json", "--log-every", 1, core=core)
        if launcher:
            command = [*launcher, *command[command.index(self.program):]]
        return json.loads(measure.run(command, ENVIRONMENT))

    def run(self, case, updates, directory, *more, batches=(), core=None):
        """One that can take turns with others; `batches`: the options that say how large each is,
        where the case does not; `core`: see command().
        """
        options = [*case.options_without_batch, *batches] if batches else case.options
        command = self.command(case.ranks, *options, "--updates", updates + WARM_UP_UPDATES,
                               "--out", directory, *more, core=core)
        return Run(command, ENVIRONMENT, directory / "metrics.jsonl", WARM_UP_UPDATES,
                   begins_with_checkpoint=True)

    def updates(self, case, updates, *more, launcher=(), core=None):
        """What each update took, in seconds, without the first few."""
        report = self.report(case.ranks, *case.options, "--updates", updates + WARM_UP_UPDATES,
                             *more, launcher=launcher, core=core)
        return [update["seconds"] for update in report["updates"][WARM_UP_UPDATES:]]

    def update_seconds(self, case, launcher=()):
        """What an update takes, by a few of them."""
        return statistics.median(self.updates(case, LEAST_UPDATES, launcher=launcher))

    def updates_in(self, case, seconds, launcher=()):
        """How many updates fill so many seconds."""
        return max(LEAST_UPDATES, round(seconds / self.update_seconds(case, launcher)))


def data_of(model, samples=None, test_samples=10):
    """Images of the model's shape, and a test set that is so small, unless told otherwise, that
    evaluating it takes no time. (Of a synthetic set a quarter are for testing.)

    Real ones where there are any, unless a number of samples is asked for.
    """
    shape = "x".join(map(str, image_of(model)))
    has_images = samples is None and FASHION_MNIST.is_dir() and image_of(model) == IMAGE_28
    return ["--data", "fashion-mnist" if has_images else
            f"synthetic:samples={samples or 12000},shape={shape},classes=10",
            "--test-data", f"synthetic:samples={4 * test_samples},shape={shape},classes=10"]


def require_fashion_mnist():
    if not FASHION_MNIST.is_dir():
        raise Missing("on Debian: apt-get install dataset-fashion-mnist")


def image_of(model):
    return IMAGE_32 if model.startswith("resnet") else IMAGE_28


def plural(number, word):
    return f"{number} {word}" + ("" if number == 1 else "s")
