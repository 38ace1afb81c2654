"""rubato train --timeline: a file that Perfetto can show, whose rows tell what the metrics tell.

environment: as rubato_command.py, and RUBATO_RUN_ON_HOSTS, the script that makes hosts
"""

import json
import os
import subprocess
import unittest

from rubato_command import TIME_FACTOR, CommandTest, rubato

# 24 updates; some leave ranks idle, some end with a short minibatch.
ROWS = [96, 32, 200, 64] * 6
RUN = ["train", "--data", "digits", "--model", "mlp:64,64", "--trace", "trace.csv",
       "--timeline", "timeline.json"]
STEP = {"loading data", "computing", "adding up gradients", "waiting for other ranks",
        "summing over ranks", "updating weights"}
BETWEEN = {"starting", "waiting for other ranks", "reporting", "evaluating",
           "writing a checkpoint", "ending"}
ROUNDING = 0.002  # microseconds, in the third decimal of beginning and duration


def end_of(event):
    return event["ts"] + event["dur"]


class TimelineTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_trace(ROWS)

    def document(self):
        return json.loads((self.directory / "timeline.json").read_text(encoding="utf-8"))

    def rows(self, document):
        """The events of each row by its name; names are unique, and every event has a row."""
        names, processes, rows = {}, {}, {}
        for event in document["traceEvents"]:
            self.assertIn(event["ph"], "MX")
            place = (event["pid"], event["tid"])
            if event["name"] == "process_name":
                processes[event["pid"]] = event["args"]["name"]
            elif event["name"] == "thread_name":
                names[place] = event["args"]["name"]
                rows[names[place]] = []
            else:
                self.assertEqual(event["ph"], "X")
                rows[names[place]].append(event)
        self.assertEqual(len(rows), len(names))
        self.assertEqual({pid for pid, _ in names}, set(processes))
        return rows

    def check_nesting(self, events):
        """In order, and each inside the one around it or after it."""
        around = []
        for event in events:
            self.assertGreaterEqual(event["dur"], 0)
            while around and end_of(around[-1]) <= event["ts"] + ROUNDING:
                around.pop()
            if around:
                self.assertGreaterEqual(event["ts"], around[-1]["ts"] - ROUNDING)
                self.assertLessEqual(end_of(event), end_of(around[-1]) + ROUNDING, event)
            around.append(event)
        begins = [event["ts"] for event in events]
        self.assertEqual(begins, sorted(begins))

    def check_phases(self, events):
        """One after the other without a gap; each update once, and as long as its phases."""
        phases = [event for event in events if event["cat"] == "phase"]
        for event, following in zip(phases, phases[1:]):
            self.assertAlmostEqual(end_of(event), following["ts"], delta=ROUNDING)
        self.assertLessEqual({event["name"] for event in phases}, STEP | BETWEEN)
        updates = [event for event in events if event["cat"] == "update"]
        for update in updates:
            inside = [event for event in phases if event["args"] == update["args"]
                      and update["ts"] - ROUNDING <= event["ts"]
                      and end_of(event) <= end_of(update) + ROUNDING]
            self.assertLessEqual({event["name"] for event in inside}, STEP)
            total = sum(event["dur"] for event in inside)
            self.assertAlmostEqual(total, update["dur"], delta=ROUNDING * len(inside))
        return updates

    def sums(self, events):
        """How many there are; each waits first."""
        sums = 0
        for event, following in zip(events, events[1:]):
            if following["name"] == "summing over ranks":
                self.assertEqual(event["name"], "waiting for other ranks")
                sums += 1
        return sums

    def check_sums(self, events, network, updates, hosts):
        """Over the network they are inside their update, whose first is repeated."""
        self.assertEqual(self.sums(events), updates + 1)
        self.assertEqual([event["args"]["update"] for event in network],
                         [1, *range(1, updates + 1)] if hosts > 1 else [])
        whole = {event["args"]["update"]: event for event in events if event["cat"] == "update"}
        for event in network:
            around = whole[event["args"]["update"]]
            self.assertGreater(event["dur"], 0)
            self.assertGreaterEqual(event["ts"], around["ts"] - ROUNDING)
            self.assertLessEqual(end_of(event), end_of(around) + ROUNDING)

    def check(self, ranks, updates, hosts=1):
        document = self.document()
        rows = self.rows(document)
        self.assertEqual(document["otherData"]["ranks"], ranks)
        self.assertEqual(len(document["otherData"]["hosts"]), hosts)
        computed = 0
        for rank in range(ranks):
            events = rows[f"rank {rank}"]
            self.check_nesting(events)
            found = self.check_phases(events)
            self.assertEqual([event["args"]["update"] for event in found],
                             list(range(1, updates + 1)))
            self.assertEqual([event["args"]["batch_size"] for event in found], ROWS[:updates])
            computed += sum(event["name"] == "computing" for event in events)
            self.check_sums(events, rows.get(f"network of rank {rank}", []), updates, hosts)
        # The first update is run twice: the exact sum finds its units.
        minibatches = [-(-size // 32) for size in ROWS[:updates]]
        self.assertEqual(computed, sum(minibatches) + minibatches[0])
        if "checkpoint writer" in rows:
            self.check_nesting(rows["checkpoint writer"])
        return rows


class OneHost(TimelineTest):
    def test_every_rank_has_a_row_that_is_whole(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.succeed(*RUN, "--updates", 24, ranks=ranks)
                rows = self.check(ranks, 24)
                self.assertEqual(len(rows), ranks)  # nothing is written: no checkpoint writer
                self.assertEqual(self.document()["otherData"]["contents"], "the whole run")

    def test_an_update_takes_as_long_as_the_metrics_say(self):
        self.succeed(*RUN, "--out", "run", "--checkpoint-every", 10, ranks=2)
        rows = self.check(2, 24)
        text = (self.directory / "run/metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        seconds = [line["seconds"] for line in lines if line["type"] == "update"]
        shown = [event["dur"] / 1e6 for event in rows["rank 0"] if event["cat"] == "update"]
        alike = sum(abs(one - other) <= 0.05 * other + 5e-5 for one, other in zip(shown, seconds))
        self.assertGreaterEqual(alike, 20, list(zip(shown, seconds)))  # a busy machine may come in
        saved = [event["args"]["update"] for event in rows["checkpoint writer"]
                 if event["name"].startswith("checkpoint ")]
        self.assertEqual(saved, [0, 10, 20, 24])
        longest = max(event["dur"] for event in rows["rank 1"] if event["name"] == "evaluating")
        self.assertGreater(longest, 10)  # microseconds, for 103 samples

    def test_it_changes_no_bit(self):
        for name, arguments in (("with", RUN), ("without", RUN[:-2])):
            self.succeed(*arguments, "--out", name, ranks=3)
        digests = {self.succeed("checkpoint", "digest", name).output.split()[0]
                   for name in ("with", "without")}
        self.assertEqual(len(digests), 1)

    def test_a_stopped_run_leaves_what_it_has_done(self):
        result = rubato(*RUN, "--out", "run", "--stop-after-update", 9, ranks=2,
                        directory=self.directory)
        self.assertEqual(result.code, 75, result.message)
        self.check(2, 9)
        self.succeed("train", "--out", "run", "--resume", "--timeline", "timeline.json", ranks=3)
        updates = [event["args"]["update"] for event in self.rows(self.document())["rank 2"]
                   if event["cat"] == "update"]
        self.assertEqual(updates, list(range(10, 25)))

    def test_a_failed_run_leaves_it_too(self):
        result = rubato(*RUN, "--lr", 1e30, ranks=2, directory=self.directory)
        self.assertEqual(result.code, 70, result.message)
        rows = self.rows(self.document())
        for rank in range(2):
            self.check_nesting(rows[f"rank {rank}"])
            updates = self.check_phases(rows[f"rank {rank}"])
            self.assertGreaterEqual(self.sums(rows[f"rank {rank}"]), len(updates))

    def test_a_file_that_cannot_be_written_is_refused_before_training(self):
        for name, word in (("none/t.json", "none"), (".", "is a directory"),
                           ("/dev/full", "is no ordinary file")):
            self.refuse(73, ["timeline", word], *RUN[:-1], name, ranks=2)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["trace.csv"])


class TwoHosts(TimelineTest):
    def test_hosts_are_processes(self):
        command = [os.environ["RUBATO_RUN_ON_HOSTS"], "--hosts", "2", "--ranks-per-host", "2",
                   os.environ["RUBATO_COMMAND"], *RUN]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True,
                              timeout=100 * TIME_FACTOR, check=False)
        if done.returncode == 77:
            print(f"\n{done.stdout}", flush=True)  # a line of its own, for the list of them
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.check(4, 24, hosts=2)
        self.assertEqual([rows[f"rank {rank}"][0]["pid"] for rank in range(4)], [1, 1, 2, 2])
        # Aligned: in every update all ranks are in its sum at the same time.
        error = 2e6 * self.document()["otherData"]["clock_error_seconds"]
        for update in range(1, 25):
            begins, ends = [], []
            for rank in range(4):
                event = next(event for event in rows[f"rank {rank}"]
                             if event["name"] == f"update {update}")
                begins.append(event["ts"])
                ends.append(end_of(event))
            self.assertGreaterEqual(min(ends) + error, max(begins), update)


if __name__ == "__main__":
    unittest.main()
