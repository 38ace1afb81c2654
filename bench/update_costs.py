"""How long an update takes as ranks, hosts, parameters and substeps grow, and what follows.

usage: update_costs.py [--build build/bench] [--rounds 3] [--seconds 1] [--rate 1gbit]

Multilayer perceptrons, whose size can be chosen: one thing grows while the others stay. Ranks go
beyond the cores, and the hosts are network namespaces of this machine (tests/cluster) that share
its cores: the model of scaling_model.py has a term for the crowding. Links of --rate tell what the
wire takes, links as wide as the machine makes them what the cores do to send and receive. It is
fitted to all that was measured, shown beside it, and then asked about clusters of one's own
choice: `scaling_model.py` does that with the result file. Gradients are summed over hosts: a few
hosts would send factors in their place (optim/factor_plan.hpp), which says nothing of many.
"""

import pathlib
import statistics
import sys

import machine
import measure
import model_costs
import scaling_model
from measure import Missing
from rubato_train import LEAST_UPDATES, Case, Rubato
from scaling_model import NARROW, WIDE, Point

RUN_ON_HOSTS = pathlib.Path(__file__).resolve().parents[1] / "tests/cluster/run_on_hosts.sh"
MIDDLE = "mlp:512,512"  # 670 k parameters
SUMS_ALONE = ("--allreduce", "node-shared")
TINY = "mlp:4"  # whose messages are small: tells them from their bytes
SIZES = ("mlp:28", "mlp:160,160", MIDDLE, "mlp:1600,1200", "mlp:3600,3600,2700")  # 22 k to 25.5 M


def plan(is_quick):
    """What is measured: a heading, the links between hosts, and (hosts, case) for each line."""
    def pick(values):
        return values[::2] if is_quick else values

    yield "ranks of one host", NARROW, [(1, Case(MIDDLE, 1, ranks)) for ranks in pick(range(1, 9))]
    yield "substeps of each rank", NARROW, [(1, Case(MIDDLE, substeps, 2))
                                            for substeps in pick((1, 2, 4, 8, 16, 32, 64))]
    yield "parameters", NARROW, [(1, Case(model, 1, ranks, minibatch)) for model in pick(SIZES)
                                 for ranks in (1, 2) for minibatch in pick((32, 8))]
    for link, models in ((NARROW, SIZES[:3:2]), (WIDE, (TINY, *SIZES[:4]))):
        yield (f"hosts of one rank, {link}", link,
               [(hosts, Case(model, 1, hosts)) for model in models for hosts in pick((2, 3, 4))])
        yield (f"hosts of two ranks, {link}", link,
               [(hosts, Case(MIDDLE, 1, 2 * hosts)) for hosts in pick((2, 3))])


def launcher(hosts, case, rate=None, burst=None):
    if hosts == 1:
        return ()
    return (RUN_ON_HOSTS, "--hosts", hosts, "--ranks-per-host", case.ranks // hosts,
            *(() if rate is None else ("--rate", rate)),
            *(() if burst is None else ("--burst", burst)))


def point(rubato, hosts, case, link, options):
    """Median over the rounds of the median update of each; --quick is content with the probe."""
    how = launcher(hosts, case, options.rate if link == NARROW else None)

    def median_of(updates):
        return statistics.median(rubato.updates(case, updates, *SUMS_ALONE, launcher=how))

    seconds = [median_of(LEAST_UPDATES)]
    if not options.quick:
        updates = max(LEAST_UPDATES, round(options.seconds / seconds.pop()))
        seconds = [machine.undisturbed(lambda: median_of(updates)) for _ in range(options.rounds)]
    return Point(model=case.model, ranks=case.ranks, hosts=hosts, substeps=case.substeps,
                 minibatch=case.minibatch, parameters=model_costs.parameters_of(case.model),
                 flops=model_costs.flops_per_sample(case.model), cores=measure.cores(),
                 link=link, seconds=statistics.median(seconds))


def run(options, report):
    rubato = Rubato(options.build)
    points = []
    for heading, link, lines in plan(options.quick):
        try:
            for hosts, case in lines:
                points.append(point(rubato, hosts, case, link, options))
                print(f"{heading + ':':<28}{points[-1]}", flush=True)
        except Missing as missing:
            report.skip(f"{heading}: {missing}")
    model = scaling_model.fit(points)
    report.details |= {"points": [vars(one) for one in points], "rate": options.rate}
    print(scaling_model.report(model, points, scaling_model.Cluster()))


def parser():
    made = measure.parser(__doc__, rounds=3, seconds=1)
    made.add_argument("--rate", default="1gbit", help="of each host's link (default %(default)s)")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("update_costs", parser(), run))
