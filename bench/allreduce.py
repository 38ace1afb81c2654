"""Sums over ranks, beside the MPI library's own and beside what a link carries.

usage: allreduce.py [--build build/bench] [--rounds 3] [--rate-gbit 1]

Each round is one run of allreduce_bench: two ranks of one host, then two hosts of one rank each
(network namespaces of this machine, tests/cluster). Of one host's ways of summing floats in memory
that the ranks share the fastest counts. Beside it stand the exact sum, which moves more, over the
link also that of one minibatch on each host, which moves as much, and reading alone: each rank
reads all addends of its slice and does no more, which no sum can undercut.
"""

import re
import sys

import machine
import measure
import update_costs
from measure import Figure, Missing
from rubato_train import ENVIRONMENT, Case

RANKS = 2
OF_ONE_HOST = (272_474, 1_199_882, 25_600_000)  # the last as many as ResNet-50 has
OVER_THE_LINK = 5_000_000  # 20 MB of floats
TIMES_LIBRARY_AT_LEAST = 8
OF_THE_LINK_AT_LEAST = 85
FLOATS = ("slices", "slices, streamed", "slices, in place")
READING = "reading alone"
EXACT, EXACT_OF_ONE = "slices, exact", "slices, exact of one"


def rows_of(table):
    """Of allreduce_bench's table: the elements, then of each way the numbers in its cell."""
    lines = [line.split("|") for line in table.splitlines() if "|" in line]
    names = [name.strip() for name in lines[0][1:]]
    return {int(count): {name: [float(number) for number in re.findall(r"\d+\.?\d*", cell)]
                         for name, cell in zip(names, cells)} for count, *cells in lines[1:]}


def fastest_of_floats(row, number):
    return max(row[way][number] for way in FLOATS if way in row)


def one_host(options, program):
    counts = OF_ONE_HOST[:1] if options.quick else OF_ONE_HOST
    command = ["mpirun", "-q", "-n", RANKS, program, *counts]
    runs = [machine.undisturbed(lambda: rows_of(measure.run(command, ENVIRONMENT)))
            for _ in range(options.rounds)]
    for count in counts:
        fastest = [fastest_of_floats(run[count], 1) for run in runs]
        exact = [run[count][EXACT][1] for run in runs]
        name = f"one host, {count}: times MPI_Allreduce's speed"
        yield Figure.of_rounds(name, fastest, "x", at_least=TIMES_LIBRARY_AT_LEAST)
        yield Figure.of_rounds(f"{name}, exact sum", exact, "x")
        yield Figure.of_rounds(f"{name}, reading alone", [run[count][READING][1] for run in runs],
                               "x")


def over_the_link(options, program):
    rate = options.rate_gbit
    link = update_costs.launcher(RANKS, Case("", ranks=RANKS), f"{rate}gbit")
    command = [*link, program, f"--link-gbit={rate}", "--rounds=5", OVER_THE_LINK]
    runs = [rows_of(measure.run(command, ENVIRONMENT))[OVER_THE_LINK]
            for _ in range(options.rounds)]
    name = f"two hosts, {rate} Gbit/s, {OVER_THE_LINK}: of floats' limit"
    yield Figure.of_rounds(name, [fastest_of_floats(run, 2) for run in runs], "%",
                           at_least=OF_THE_LINK_AT_LEAST)
    for way, what in ((EXACT, "exact sum"), (EXACT_OF_ONE, "exact of one")):
        yield Figure.of_rounds(f"{name}, {what}", [run[way][2] for run in runs], "%",
                               note=f"{runs[0][way][0] / 1000:.0f} ms")


def run(options, report):
    program = options.build / "bench" / "allreduce_bench"
    for figures in (one_host, over_the_link):
        try:
            for figure in figures(options, program):
                report.add(figure)
        except Missing as missing:
            report.skip(str(missing))


def parser():
    made = measure.parser(__doc__, rounds=3)
    made.add_argument("--rate-gbit", type=int, default=1, help="of each host's link")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("allreduce", parser(), run))
