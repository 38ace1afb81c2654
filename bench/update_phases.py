"""Where the time of an update goes: the phases of rank 0, as `rubato train --timeline` has them.

usage: update_phases.py [--build build/bench] [--models MODEL ...] [--ranks 1 2] [--substeps 1 4]
                        [--hosts 1] [--rate 1gbit]

More than one host are network namespaces of this machine with links of --rate; of --ranks those
that the hosts share evenly are measured. What a phase takes is the median over the updates, without
the first few. Waiting for the loading thread is in "loading data".
"""

import collections
import json
import pathlib
import statistics
import sys
import tempfile

import measure
import rubato_train
import update_costs
from measure import Figure
from rubato_train import WARM_UP_UPDATES, Rubato


def phases_of_updates(events):
    """Of rank 0, in the order of the updates: each update's seconds and those of its phases."""
    threads = {event["args"]["name"]: event["tid"] for event in events
               if event["name"] == "thread_name"}
    updates = collections.defaultdict(collections.Counter)
    for event in events:
        if event["ph"] != "X" or event["tid"] != threads["rank 0"]:
            continue
        name = "update" if event["cat"] == "update" else event["name"]
        updates[event["args"].get("update", 0)][name] += event["dur"] / 1e6
    return [updates[number] for number in sorted(updates) if "update" in updates[number]]


def figure(options, rubato, case):
    hosts = update_costs.launcher(options.hosts, case, options.rate)
    updates = rubato.updates_in(case, options.seconds, launcher=hosts)
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "timeline.json"
        rubato.updates(case, updates, "--timeline", file, launcher=hosts)
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    found = phases_of_updates(events)[WARM_UP_UPDATES:]
    times = {name: 1e3 * statistics.median(update[name] for update in found)
             for name in set().union(*found)}
    whole = times.pop("update")
    largest = sorted(times.items(), key=lambda phase: -phase[1])
    return Figure(f"{case}: an update", whole, "ms",
                  note=", ".join(f"{name} {time:.3g}" for name, time in largest if time > 0))


def run(options, report):
    shared = [case for case in rubato_train.cases(options)
              if options.hosts > 0 and case.ranks % options.hosts == 0]
    if not shared:
        sys.exit(f"update_phases.py: --hosts {options.hosts} share none of --ranks "
                 f"{' '.join(map(str, options.ranks))} evenly; give a multiple of the hosts")
    rubato = Rubato(options.build)
    for case in shared:
        report.add(figure(options, rubato, case))


def parser():
    made = rubato_train.case_parser(__doc__)
    made.add_argument("--hosts", type=int, default=1)
    made.add_argument("--rate", default="1gbit", help="of each host's link (default %(default)s)")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("update_phases", parser(), run))
