"""Training speed beside PyTorch's DistributedDataParallel, in short turns.

usage: vs_pytorch.py [--build build/bench] [--rounds 5] [--seconds 3] [--models MODEL ...]

Ours is `rubato train` as a user runs it: images through the loader, the exact sum, the gradient's
noise measured. Theirs (pytorch_ddp.py) computes on one minibatch in memory; with one rank it is
PyTorch alone. In each round both begin anew and take turns (alternation.py). Before a model is
timed, both must find the same loss (same_loss.py). Exit status 77 where a package is missing; the
reference BLAS, which libblas3 installs, counts as one: PyTorch's matrix products are ten times
slower with it than with OpenBLAS.

PyTorch runs at its best: OpenBLAS takes its oldest kernels on a processor that it does not know, so
all that the processor can run are tried first, and PyTorch gets the fastest. Several ranks are
timed bound to a core each, and free: which is faster depends on the model, and the faster counts.
"""

import dataclasses
import functools
import json
import os
import pathlib
import statistics
import sys

import alternation
import measure
import same_loss
from alternation import Run
from measure import Figure, Missing
from rubato_train import LEAST_UPDATES, MODELS, Case, Rubato

HERE = pathlib.Path(__file__).resolve().parent
BLAS_KERNELS = "OPENBLAS_CORETYPE"
FEATURE_OF_BLAS_KERNELS = {"Haswell": "avx2", "SkylakeX": "avx512vl"}  # what they run on
UPDATES_FOR_BLAS_KERNELS = 200

PLACES = {"free": (), "bound": ("--bound",)}  # of PyTorch's ranks

# (ranks, substeps) -> how many times PyTorch's speed, at least
BARS = {
    (1, 1): {"mnist": 2.5, "mnist-tutorial": 1.8, "mlp:512,512": 1.6, "resnet20": 1.3},
    (2, 1): {"mnist": 4, "mnist-tutorial": 2, "mlp:512,512": 5, "resnet20": 1.6},
    (2, 4): {"mnist": 3, "mnist-tutorial": 1.8, "mlp:512,512": 2.5, "resnet20": 1.4},
}


def pytorch(case, *more):
    """What pytorch_ddp.py reports."""
    return json.loads(measure.run(pytorch_command(case, *more), environment()))


def pytorch_command(case, *more):
    return [sys.executable, "-B", HERE / "pytorch_ddp.py", *words(case), *more]


def words(case):
    """What pytorch_ddp.py is told of it."""
    return [word for name, value in dataclasses.asdict(case).items()
            for word in (f"--{name}", value)]


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def compare(rubato, case, options):
    our_update = rubato.update_seconds(case)
    their_update = pytorch(case, "--updates", LEAST_UPDATES)["seconds_per_update"]
    slowest = max(our_update, their_update)
    updates, their_updates = (alternation.updates_in(options.seconds, one, slowest)
                              for one in (our_update, their_update))
    places = PLACES if case.ranks > 1 else ("free",)

    ours, *theirs = alternation.speeds_in_rounds(options.rounds, lambda directory: [
        [rubato.run(case, updates, directory / "rubato")],
        *([their_run(case, their_updates, directory, place)] for place in places)])
    theirs = dict(zip(places, theirs))
    best = max(places, key=lambda place: statistics.median(theirs[place]))
    figure = Figure.of_rounds(
        f"{case}: times PyTorch's speed", measure.ratios(ours, theirs[best]), "x",
        at_least=BARS.get((case.ranks, case.substeps), {}).get(case.model),
        note=f"{statistics.median(ours):.0f} and {statistics.median(theirs[best]):.0f} samples/s"
             + (f" ({best})" if len(places) > 1 else ""))
    return figure, {**dataclasses.asdict(case), "rubato": ours, "pytorch": theirs}


def their_run(case, updates, directory, place):
    log = directory / f"{place}.jsonl"
    command = pytorch_command(case, "--updates", updates, "--log", log, *PLACES[place])
    return Run(command, environment(), log, warm_up=1)


@functools.cache
def prepare():
    """Before PyTorch runs. Returns its BLAS."""
    same_loss.require_packages()
    if BLAS_KERNELS not in os.environ:
        os.environ.update(fastest_blas_kernels(seconds_of_dense_layers))  # PyTorch is not here yet
    if "/blas/libblas" in blas():
        raise Missing("PyTorch has the reference BLAS; on Debian: apt-get install "
                      "libopenblas0-pthread")
    return f"{blas()} ({os.environ.get(BLAS_KERNELS, 'its own choice of kernels')})"


def fastest_blas_kernels(seconds_with):
    """A setting of the environment for the kernels that take the least seconds, if it takes one."""
    features = measure.cpu_fact("flags").split()
    named = [{BLAS_KERNELS: name} for name, feature in FEATURE_OF_BLAS_KERNELS.items()
             if feature in features]
    return min([{}, *named], key=seconds_with)


def seconds_of_dense_layers(setting):
    command = pytorch_command(Case("mlp:512,512"), "--updates", UPDATES_FOR_BLAS_KERNELS)
    return json.loads(measure.run(command, {**environment(), **setting}))["seconds_per_update"]


def blas():
    """The file of the BLAS that PyTorch has loaded."""
    import torch  # noqa: F401
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if "blas" in line:
            return line.split()[-1]
    return "built in"


def run(options, report):
    report.context["blas"] = prepare()
    rubato = Rubato(options.build)
    report.details["samples_per_second"] = []
    for model in options.models:
        same_loss.difference(rubato, model)
        for ranks, substeps in list(BARS)[:2 if options.quick else None]:
            figure, detail = compare(rubato, Case(model, substeps, ranks), options)
            report.add(figure)
            report.details["samples_per_second"].append(detail)


def parser():
    return measure.parser(__doc__, models=MODELS)


if __name__ == "__main__":
    sys.exit(measure.main("vs_pytorch", parser(), run))
