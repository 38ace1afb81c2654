"""Where the time of an update goes: the phases of rank 0, as `rubato train --timeline` has them.

usage: update_phases.py [--build build/bench] [--models MODEL ...] [--ranks 1 2] [--substeps 1 4]

A phase's time is the median over an update's events of its name, added up, of all updates but the
first few. Waiting for other ranks is in "summing over ranks", waiting for the loading thread in
"loading data".
"""

import collections
import json
import pathlib
import statistics
import sys
import tempfile

import measure
from measure import Figure
from rubato_train import MODELS, WARM_UP_UPDATES, Case, Rubato


def phases_of_updates(events):
    """Of rank 0, in order: for each update its seconds, and those of each of its phases."""
    names = {event["tid"]: event["args"]["name"] for event in events
             if event["name"] == "thread_name"}
    updates = collections.defaultdict(lambda: (0, collections.Counter()))
    for event in events:
        if event["ph"] != "X" or names.get(event["tid"]) != "rank 0":
            continue
        number, seconds = event["args"].get("update", 0), event["dur"] / 1e6
        whole, phases = updates[number]
        if event["cat"] == "update":
            updates[number] = whole + seconds, phases
        elif event["cat"] == "phase":
            phases[event["name"]] += seconds
    return [updates[number] for number in sorted(updates) if updates[number][0] > 0]


def figure(options, rubato, case):
    updates = rubato.updates_in(case, options.seconds)
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "timeline.json"
        rubato.updates(case, updates, "--timeline", file)
        events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
    found = phases_of_updates(events)[WARM_UP_UPDATES:]
    phases = {name: 1e3 * statistics.median(update[name] for _, update in found)
              for name in {name for _, update in found for name in update}}
    largest = sorted(phases.items(), key=lambda phase: -phase[1])
    return Figure(f"{case}: an update", 1e3 * statistics.median(whole for whole, _ in found), "ms",
                  note=", ".join(f"{name} {time:.3g}" for name, time in largest if time > 0))


def run(options, report):
    if options.quick:
        options.substeps = options.substeps[:1]
    rubato = Rubato(options.build)
    for model in options.models:
        for ranks in options.ranks:
            for substeps in options.substeps:
                report.add(figure(options, rubato, Case(model, substeps, ranks)))


def parser():
    made = measure.parser(__doc__, models=MODELS)
    made.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    made.add_argument("--substeps", type=int, nargs="+", default=[1, 4])
    return made


if __name__ == "__main__":
    sys.exit(measure.main("update_phases", parser(), run))
