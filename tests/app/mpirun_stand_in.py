"""Stands for mpirun and the training under it, in tests of the supervisor.

usage: mpirun_stand_in.py DIRECTORY -q -n RANKS [--oversubscribe] PROGRAM train OPTIONS...

DIRECTORY/plan.json lists what each job in turn does: {"updates": N, "exit": CODE} makes N updates
and ends; without "exit" it goes on until SIGUSR1 asks it to stop, and ends with 75; "deaf" ignores
that, and "state" is what state.json holds at the end. After the list every job ends with 0.
DIRECTORY/jobs.jsonl gets a line for each job. An update is a line in the metrics.jsonl of --out,
every 10 ms.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

# Ends with its parent, whatever ends that.
RANK = 'trap "exit 0" USR1; while kill -0 $PPID 2>/dev/null; do sleep 0.05; done'


def main():
    directory = pathlib.Path(sys.argv[1])
    words = sys.argv[2:]
    ranks = int(words[words.index("-n") + 1])
    asked = []
    signal.signal(signal.SIGUSR1, lambda *_: asked.append(True))
    log = directory / "jobs.jsonl"
    job = len(log.read_text().splitlines()) if log.exists() else 0
    plan = json.loads((directory / "plan.json").read_text())
    what = plan[job] if job < len(plan) else {"exit": 0}
    started = [subprocess.Popen(["sh", "-c", RANK], env={**os.environ, "PMIX_RANK": str(rank)},
                                stderr=subprocess.DEVNULL)
               for rank in range(ranks)]
    with log.open("a") as file:
        print(json.dumps({"ranks": ranks, "words": words, "time": time.monotonic(),
                          "pid": os.getpid(), "rank_pids": [one.pid for one in started]}),
              file=file)
    out = pathlib.Path(words[words.index("--out") + 1])
    code = train(out, what, asked)
    if "state" in what:
        (out / "state.json").write_text(json.dumps(what["state"]))
    for one in started:
        one.kill()
        one.wait()
    sys.exit(code)


def train(out, what, asked):
    metrics = out / "metrics.jsonl"
    update = len(metrics.read_text().splitlines()) if metrics.exists() else 0
    is_endless = not what.keys() & {"updates", "exit"}
    last = None if is_endless else update + what.get("updates", 0)
    with metrics.open("a", buffering=1) as file:
        while last is None or update < last:
            if asked and not what.get("deaf"):
                return 75
            update += 1
            print(json.dumps({"type": "update", "update": update}), file=file)
            time.sleep(0.01)
    return what.get("exit", 0)


if __name__ == "__main__":
    main()
