"""What an update costs on more machines than there are: a sum of terms, fitted, then asked.

usage: scaling_model.py [--results build/bench/results] [--models MODEL ...]
                        [--ranks-per-host 16] [--gbit X] [--message-us X] [--substeps 1]

The formula is that of term_amounts(): each term is an amount that follows from the case, times a
constant of the machine. update_costs.py measures the cases, and the constants are fitted to them:
relative errors count alike, so that small updates are not drowned by large ones, and no constant is
negative.

What the cores do to send and receive hides behind a narrow link, and a wide one behind the cores:
each case that is measured tells about one of the two, and of others the longer counts.

Left out: sums over hosts that hide behind the last backward pass, so networks look slower than they
are; memory that the ranks of a large host share, so such hosts look faster; failures.
"""

import argparse
import dataclasses
import json
import math
import operator
import pathlib
import sys

import model_costs
from rubato_train import MINIBATCH

# What crosses the network for a parameter of the exact sum: a packed addend, of one minibatch or of
# the sum of several, and the mean back.
ADDEND_BYTES_OF_ONE, ADDEND_BYTES, MEAN_BYTES = 4, 5, 4
MESSAGE_ELEMENTS = 8192  # of a slice's bucket, for each host
NARROW, WIDE, AS_COMPUTED = "narrow", "wide", "as computed"  # links between hosts
HIDDEN_TERMS = {NARROW: ("messages", "handling"), WIDE: ("wire",)}
# Facts that are summed over hosts, out and back: of a minibatch, and of a rank.
MINIBATCH_BYTES, RANK_BYTES = 2 * 48, 2 * 24

TERMS = {"fixed": "s an update", "arithmetic": "s/FLOP", "adding": "s/parameter and substep",
         "summing": "s/parameter", "stepping": "s/parameter of a rank's slice",
         "crowding": "s for each rank beyond the first of a core", "messages": "s/message",
         "handling": "s/byte of a rank", "wire": "s/byte of a host"}


@dataclasses.dataclass
class Point:
    """A case; of one that was measured, also its seconds."""

    model: str
    ranks: int
    hosts: int
    substeps: int
    minibatch: int
    parameters: int
    flops: float  # of a sample
    cores: int  # that all these ranks share
    link: str = NARROW
    seconds: float = 0

    def __str__(self):
        return (f"{self.model:<20} {self.parameters:>9} parameters {self.hosts} x "
                f"{self.ranks // self.hosts} ranks {self.substeps:>3} x {self.minibatch:<3}"
                f"{self.link if self.hosts > 1 else '':<7}{1000 * self.seconds:>10.3f} ms")


@dataclasses.dataclass
class Model:
    constants: dict  # of each term, from its amount to seconds

    def parts(self, point):
        parts = {term: self.constants[term] * amount
                 for term, amount in term_amounts(point).items()}
        if point.link == AS_COMPUTED:
            by_cores = sum(parts[term] for term in HIDDEN_TERMS[NARROW])
            return without_hidden(parts, NARROW if parts["wire"] > by_cores else WIDE)
        return without_hidden(parts, point.link)

    def seconds(self, point):
        return sum(self.parts(point).values())


def without_hidden(terms, link):
    return {term: 0 if term in HIDDEN_TERMS[link] else value for term, value in terms.items()}


def term_amounts(point):
    """How much of each term a case has, hidden or not."""
    ranks_of_host = point.ranks // point.hosts
    per_core = max(1, point.ranks / point.cores)
    slice_size = point.parameters / ranks_of_host
    others = point.hosts - 1
    buckets = math.ceil(slice_size / (MESSAGE_ELEMENTS * point.hosts))
    is_of_one = ranks_of_host * point.substeps == 1
    wire_bytes = (ADDEND_BYTES_OF_ONE if is_of_one else ADDEND_BYTES) + MEAN_BYTES
    facts = point.ranks * (MINIBATCH_BYTES * point.substeps + RANK_BYTES) if others else 0
    bytes_of_host = wire_bytes * point.parameters * others / point.hosts + facts
    return {"fixed": 1,
            "arithmetic": per_core * point.substeps * point.minibatch * point.flops,
            "adding": per_core * point.substeps * point.parameters,
            "summing": per_core * point.parameters,
            "stepping": per_core * slice_size,
            "crowding": per_core - 1,
            "messages": per_core * 2 * others * buckets,
            "handling": per_core * bytes_of_host / ranks_of_host,
            "wire": bytes_of_host}


def fit(points):
    """The constants, none negative, with the least squares of the relative errors."""
    rows = [[amount / point.seconds
             for amount in without_hidden(term_amounts(point), point.link).values()]
            for point in points]
    return Model(dict(zip(TERMS, least_squares(rows))))


def least_squares(rows, sweeps=20_000):
    """The x >= 0 that brings every row's product with it near to 1, one coordinate at a time.

    Columns are brought to one size first; one of zeros, which no case tells about, yields 0.
    """
    scales = [math.sqrt(sum(row[i] ** 2 for row in rows)) or 1 for i in range(len(rows[0]))]
    columns = [[row[i] / scale for row in rows] for i, scale in enumerate(scales)]
    products = [[sum(map(operator.mul, one, other)) for other in columns] for one in columns]
    targets = [sum(column) for column in columns]
    found = [0.0] * len(columns)
    for _ in range(sweeps):
        for i, line in enumerate(products):
            rest = targets[i] - sum(map(operator.mul, line, found)) + line[i] * found[i]
            found[i] = max(0.0, rest / line[i]) if line[i] else 0.0
    return [value / scale for value, scale in zip(found, scales)]


def fit_table(model, points):
    lines = ["", "fitted constants:"]
    lines += [f"  {term:<12}{model.constants[term]:>12.3g} {unit}" for term, unit in TERMS.items()]
    errors = sorted((abs(model.seconds(point) / point.seconds - 1), str(point),
                     1000 * model.seconds(point)) for point in points)
    middle = errors[len(errors) // 2][0]
    lines.append(f"half of the {len(points)} cases are within {100 * middle:.0f} % of the formula; "
                 "farthest from it:")
    lines += [f"  {text}, formula {fitted:.3f} ms" for _, text, fitted in errors[-3:]]
    return "\n".join(lines)


@dataclasses.dataclass
class Cluster:
    ranks_per_host: int = 16
    substeps: int = 1
    models: tuple = ("mlp:512,512", "resnet20", "resnet50")
    largest: int = 4096

    def point(self, name, ranks):
        hosts = -(-ranks // self.ranks_per_host)
        return Point(name, ranks, hosts, self.substeps, MINIBATCH, model_costs.parameters_of(name),
                     model_costs.flops_per_sample(name), cores=ranks, link=AS_COMPUTED)

    def rank_counts(self):
        """One, a host, and four times as many each, up to the largest."""
        counts, ranks = [1], self.ranks_per_host
        while ranks <= self.largest:
            counts += [ranks] * (ranks > 1)
            ranks *= 4
        return counts


def prediction(model, cluster):
    """Each model's time over ranks, and the first term that outgrows computing."""
    lines = ["", f"predicted: {cluster.ranks_per_host} ranks a host, a core each; ms of an update "
             f"of {cluster.substeps} x {MINIBATCH} samples a rank", network_of(model)]
    for name in cluster.models:
        first = None
        lines.append(f"\n{name:<14}{'batch':>8}{'compute':>10}{'node':>9}{'sending':>10}"
                     f"{'wire':>9}{'all':>10}  efficiency")
        alone = model.seconds(cluster.point(name, 1))
        for ranks in cluster.rank_counts():
            point = cluster.point(name, ranks)
            parts = grouped(model.parts(point))
            total = sum(parts.values())
            beside = max((term for term in parts if term != "compute"), key=parts.get)
            if first is None and alone / total < 0.5:
                first = f"{beside} at {ranks} ranks"
            lines.append(f"{ranks:>8} ranks{ranks * cluster.substeps * MINIBATCH:>8}"
                         + "".join(f"{1000 * seconds:>{width}.2f}" for seconds, width in
                                   zip((*parts.values(), total), (10, 9, 10, 9, 10)))
                         + f"{100 * alone / total:>10.0f} %")
        lines.append("what breaks first: " + (first or f"nothing up to {ranks} ranks"))
    return "\n".join(lines)


def grouped(parts):
    return {"compute": parts["fixed"] + parts["arithmetic"] + parts["adding"],
            "node": parts["summing"] + parts["stepping"] + parts["crowding"],
            "sending": parts["messages"] + parts["handling"], "wire": parts["wire"]}


def network_of(model):
    """Both parts of what a network costs; one without constants was not measured."""
    wire, messages, handling = (model.constants[term] for term in ("wire", "messages", "handling"))
    by_wire = f"{8e-9 / wire:.2f} Gbit/s a host" if wire else "links: not measured, not counted"
    by_cores = (f"{1e6 * messages:.1f} us a message and {1e9 * handling:.2f} ns a byte for a rank"
                if messages or handling else "sending by the cores: not measured, not counted")
    return f"network: {by_wire}; {by_cores}"


def report(model, points, cluster, gbit=None, message_us=None):
    """How well the formula fits what was measured; then what follows, for another network too."""
    asked = Model(dict(model.constants))
    if gbit is not None:
        asked.constants["wire"] = 8e-9 / gbit
    if message_us is not None:
        asked.constants["messages"] = 1e-6 * message_us
    return fit_table(model, points) + "\n" + prediction(asked, cluster)


def positive(text):
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError  # argparse says what was given, and to which option
    return number


def not_negative(text):
    return 0.0 if float(text) == 0 else positive(text)


def count(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default="build/bench/results",
                        help="folder that update_costs.py has written to, or its file there")
    parser.add_argument("--models", nargs="+", default=Cluster.models)
    parser.add_argument("--ranks-per-host", type=count, default=Cluster.ranks_per_host)
    parser.add_argument("--substeps", type=count, default=Cluster.substeps)
    parser.add_argument("--gbit", type=positive, help="of a host's link; default as fitted")
    parser.add_argument("--message-us", type=not_negative, help="of a message; default as fitted")
    return parser.parse_args()


def read_results(path):
    """Of the file, or of the folder that it is in."""
    file = path / "update_costs.json" if path.is_dir() else path
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        sys.exit(f"{file}: {error.strerror}; update_costs.py writes it")


def main():
    options = parse_options()
    results = read_results(options.results)
    for name in ("host", "cpu", "cores", "time", "rubato"):
        print(f"# {name}: {results['context'][name]}")
    cluster = Cluster(options.ranks_per_host, options.substeps, options.models)
    points = [Point(**point) for point in results["points"]]
    print(report(fit(points), points, cluster, options.gbit, options.message_us))


if __name__ == "__main__":
    main()
