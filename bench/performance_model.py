"""How well a run can foretell the time of its updates, on 1 to 4 ranks of this machine.

usage: performance_model.py [--build build/bench] [--models MODEL ...] [--updates 40] [--ranks 4]

For each model, updates of minibatches of 8 to 256 samples and 1 to 8 substeps are run on each
number of ranks. The performance model is fitted to every other kind of update, as a run on those
ranks would, and asked for all of them. See performance_model_bench.cpp.
"""

import pathlib
import sys
import tempfile

import measure
from measure import Figure
from rubato_train import ENVIRONMENT

ERROR_AT_MOST = 10  # per cent
FIT_AT_MOST, SEARCH_AT_MOST = 5, 1  # milliseconds
MODELS = ["mlp:128", "mnist"]


def judged(program, model, options, directory):
    """What the program says of the model: name to number."""
    profile = pathlib.Path(directory) / "profile"
    for ranks in range(1, options.ranks + 1):
        measure.run(["mpirun", "-q", "-n", ranks, program, "measure", profile, model,
                     options.updates], ENVIRONMENT)
    said = measure.run([program, "judge", profile])
    words = [line.split() for line in said.splitlines() if not line.startswith("kind ")]
    return {name: float(value) for name, value in words}


def run(options, report):
    program = pathlib.Path(options.build) / "bench" / "performance_model_bench"
    report.details["judged"] = {}
    for model in options.models:
        with tempfile.TemporaryDirectory() as directory:
            numbers = judged(program, model, options, directory)
        report.details["judged"][model] = numbers
        for ranks in range(1, options.ranks + 1):
            report.add(Figure(f"{model}: error of an update's time, {ranks} ranks (median)",
                              numbers[f"error_of_ranks_{ranks}"], "%"))
        report.add(Figure(f"{model}: error of an update's time (median)", numbers["error"], "%",
                          at_most=ERROR_AT_MOST))
        report.add(Figure(f"{model}: the same, of kinds not measured", numbers["error_unseen"], "%",
                          at_most=ERROR_AT_MOST))
        report.add(Figure(f"{model}: fit", numbers["fit_ms"], "ms", at_most=FIT_AT_MOST))
        report.add(Figure(f"{model}: search", numbers["search_ms"], "ms", at_most=SEARCH_AT_MOST))


def parser():
    made = measure.parser(__doc__, models=MODELS)
    made.add_argument("--updates", type=int, default=40, help="of each kind")
    made.add_argument("--ranks", type=int, default=4, help="the most")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("performance_model", parser(), run))
