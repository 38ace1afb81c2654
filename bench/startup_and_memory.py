"""How soon training begins, and how much memory a rank takes.

usage: startup_and_memory.py [--build build/bench] [--rounds 5]

Starting: `rubato train` on the digits, two ranks, in turn with empty_mpi, which prints a line as
soon as MPI_Init has returned. Both lines travel through mpirun alike, so where MPI is set alike
too, the time by which ours (that of the first update) comes later is the time from MPI_Init's
return to the first update, and loading a larger program is in it. The whole programs are compared
as they are: MPI as it starts by itself beside MPI as rubato starts it on one host.

Memory: the largest rank's peak (VmHWM) in a job of resnet20, as the kernel hands it to who waits
for the job. Both sides hold few images: PyTorch a minibatch, ours an update's and a small test set,
on which it evaluates; PyTorch does not.
"""

import statistics
import subprocess
import sys
import time

import measure
import vs_pytorch
from measure import Failure, Figure, Missing
from rubato_train import ENVIRONMENT, Case, Rubato, data_of

RANKS = 2
FIRST_UPDATE_AT_MOST = 0.15  # seconds
MEMORY_AT_MOST = 100 / 3  # per cent of PyTorch's
SET_AS_RUBATO_DOES = {"OMPI_MCA_pml": "ob1"}  # collectives/mpi_settings.hpp
UPDATES_FOR_MEMORY = 10
EVALUATED_SAMPLES = 2 * 32  # what each rank takes at once; more would be memory of the data
PEAK_OF_CHILDREN = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def seconds_to_line(command, is_it, settings=None):
    """From the start of a program to the line that is waited for, and to its end."""
    begin = time.perf_counter()
    with subprocess.Popen([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          env={**ENVIRONMENT, **(settings or {})}) as process:
        line_seconds = None
        for line in process.stdout:
            if line_seconds is None and is_it(line):
                line_seconds = time.perf_counter() - begin
    if line_seconds is None or process.returncode != 0:
        raise Failure(f"{command[0]}: exit status {process.returncode}, without the line that was "
                      "waited for")
    return line_seconds, time.perf_counter() - begin


def startup_figures(options):
    rubato = Rubato(options.build)
    digits = ["--data", "digits", "--batch-size", 64, "--updates", 2, "--log-every", 1]
    empty = ["mpirun", "-q", "-n", RANKS, options.build / "bench" / "empty_mpi"]

    def start_empty(settings):
        return seconds_to_line(empty, lambda line: line == "started\n", settings)

    rounds = measure.in_turn(max(options.rounds, 3), {
        "empty": lambda: start_empty({}),
        "empty, set alike": lambda: start_empty(SET_AS_RUBATO_DOES),
        "rubato": lambda: seconds_to_line(rubato.command(RANKS, *digits),
                                          lambda line: line.split()[:1] == ["1"])})
    lines = [ours - theirs for (ours, _), (theirs, _)
             in zip(rounds["rubato"], rounds["empty, set alike"])]
    ends = [ours - theirs for (_, ours), (_, theirs) in zip(rounds["rubato"], rounds["empty"])]
    yield Figure.of_rounds("digits: MPI_Init's return to the first update", lines, "s",
                           at_most=FIRST_UPDATE_AT_MOST)
    yield Figure.of_rounds("digits: whole program of 2 updates, beyond an empty one", ends, "s",
                           note=f"empty: {statistics.median(end for _, end in rounds['empty']):.2f}"
                                " s")


def peak_bytes(command, environment):
    return int(measure.run([sys.executable, "-c", PEAK_OF_CHILDREN, *command], environment))


def memory_figures(options, model):
    case = Case(model, 1, RANKS)
    name = f"{model}, {RANKS} ranks: peak memory"
    ours = Rubato(options.build).command(
        RANKS, "--model", model,
        *data_of(model, samples=case.batch_size, test_samples=EVALUATED_SAMPLES),
        "--batch-size", case.batch_size, "--updates", UPDATES_FOR_MEMORY)
    yield Figure(f"{name} of a rank", peak_bytes(ours, ENVIRONMENT) / 1e6, "MB")
    vs_pytorch.prepare()
    theirs = vs_pytorch.pytorch_command(case, "--updates", UPDATES_FOR_MEMORY)
    rounds = measure.in_turn(options.rounds, {
        "ours": lambda: peak_bytes(ours, ENVIRONMENT) / 1e6,
        "theirs": lambda: peak_bytes(theirs, vs_pytorch.environment()) / 1e6})
    shares = [100 * share for share in measure.ratios(rounds["ours"], rounds["theirs"])]
    yield Figure.of_rounds(f"{name}, of PyTorch's", shares, "%", at_most=MEMORY_AT_MOST,
                           note=f"PyTorch {statistics.median(rounds['theirs']):.0f} MB")


def run(options, report):
    for figure in startup_figures(options):
        report.add(figure)
    try:
        for figure in memory_figures(options, options.model):
            report.add(figure)
    except Missing as missing:
        report.skip(str(missing))


def parser():
    made = measure.parser(__doc__)
    made.add_argument("--model", default="resnet20", help="for the memory (default %(default)s)")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("startup_and_memory", parser(), run))
