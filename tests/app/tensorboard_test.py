"""rubato train --tensorboard: event files that an independent reader finds whole, and whose curves
say what metrics.jsonl says, each update once, however often the run was killed.

environment: as rubato_command.py
"""

import os
import signal
import struct
import subprocess
import sys
import time
import unittest

from rubato_command import PATIENCE, CommandTest, command_line, json_lines, ranks_in, rubato

try:
    import event_files
except ImportError as error:
    print(f"\nskipped: TensorBoard's files cannot be read: {error}; install python3-protobuf",
          flush=True)
    sys.exit(77)

ROWS = [96, 32, 200, 64] * 24
RUN = ["train", "--data", "digits", "--model", "mlp:16", "--trace", "trace.csv", "--rule",
       "adascale", "--out", "run"]
RESUME = ["train", "--out", "run", "--resume"]
TRAIN = {"loss": "loss", "accuracy": "accuracy", "batch_size": "batch_size",
         "learning_rate": "lr", "gain": "gain", "noise_scale": "noise_scale",
         "efficiency": "efficiency"}


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class TensorboardTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_trace(ROWS)
        self.events = self.directory / "run" / "tensorboard"
        self.started = time.time()

    def lines(self, kind):
        metrics = json_lines(self.directory / "run" / "metrics.jsonl")
        return [line for line in metrics if line["type"] == kind]

    def check_curves(self, first=1, last=len(ROWS)):
        """Line by line as in the metrics, from an update on."""
        curves = event_files.curves(self.events)
        self.assertEqual(curves, event_files.curves_by_order(self.events))
        updates = [line for line in self.lines("update") if line["update"] >= first]
        self.assertEqual([line["update"] for line in updates], list(range(first, last + 1)))
        expected = {f"train/{tag}": [(line["update"], as_float(line[name])) for line in updates]
                    for tag, name in TRAIN.items()}
        expected["train/samples_per_second"] = [
            (line["update"], as_float(line["batch_size"] / line["seconds"])) for line in updates]
        for name in ("loss", "accuracy"):
            expected[f"test/{name}"] = [(line["update"], as_float(line[name]))
                                        for line in self.lines("eval") if line["update"] >= first]
        self.assertEqual({tag: [point[:2] for point in points] for tag, points in curves.items()},
                         expected)
        times = [point[2] for point in curves["train/loss"]]
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(times[0], self.started)
        self.assertLessEqual(times[-1], time.time())

    def files(self):
        return event_files.event_files(self.events)


class Contents(TensorboardTest):
    def test_are_those_of_the_metrics_on_any_number_of_ranks(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.succeed(*RUN, "--tensorboard", "--overwrite", ranks=ranks)
                self.check_curves()
                self.assertEqual(len(self.files()), 1)

    def test_begin_with_the_version_and_the_start(self):
        self.succeed(*RUN, "--tensorboard")
        first, second, third = event_files.events_of(self.files()[0])[:3]
        self.assertEqual(first.file_version, "brain.Event:2")
        self.assertEqual([field.name for field, _ in first.ListFields()],
                         ["wall_time", "file_version"])
        self.assertEqual((second.step, second.session_log.status), (1, event_files.START))
        self.assertEqual((third.step, third.summary.value[0].tag), (1, "train/loss"))

    def test_have_every_value_even_where_it_is_zero(self):
        self.succeed(*RUN, "--tensorboard", "--lr", "1e-60")
        for event in event_files.events_of(self.files()[0]):
            for value in event.summary.value:
                self.assertTrue(value.HasField("simple_value"), event)
                if value.tag == "train/learning_rate":
                    self.assertEqual(value.simple_value, 0)  # too small for a float

    def test_change_no_bit_of_the_result(self):
        digests = set()
        for words in (["--tensorboard"], ["--overwrite"]):
            self.succeed(*RUN, *words, ranks=3)
            digests.add(self.succeed("checkpoint", "digest", "run").output.split()[0])
        self.assertEqual(len(digests), 1)
        self.assertFalse(self.events.exists())  # they were the replaced run's

    def test_a_reader_notices_a_single_wrong_bit(self):
        self.succeed(*RUN, "--tensorboard", "--updates", 3)
        whole = self.files()[0].read_bytes()
        for place in (0, 9, 12, len(whole) - 1):
            damaged = bytearray(whole)
            damaged[place] ^= 4
            with self.subTest(place=place), self.assertRaises(ValueError):
                list(event_files.records(bytes(damaged)))


class Continuation(TensorboardTest):
    def stop(self, update, *arguments, ranks):
        result = rubato(*arguments, "--stop-after-update", update, ranks=ranks,
                        directory=self.directory)
        self.assertEqual(result.code, 75, result.message)

    def test_after_a_stop_goes_on_on_other_ranks_without_being_asked_again(self):
        self.stop(20, *RUN, "--tensorboard", ranks=2)
        self.stop(50, *RESUME, ranks=1)  # within the same second, perhaps
        self.succeed(*RESUME, ranks=3)
        self.assertEqual(len(self.files()), 3)
        starts = [event_files.events_of(file)[1].step for file in self.files()]
        self.assertEqual(starts, [1, 21, 51])
        self.check_curves()

    def test_may_begin_or_end_with_a_resumed_run(self):
        self.stop(20, *RUN, ranks=2)
        self.assertFalse(self.events.exists())
        self.stop(50, *RESUME, "--tensorboard", ranks=2)
        self.check_curves(first=21, last=50)
        self.succeed(*RESUME, "--tensorboard=false", ranks=2)
        self.assertEqual(max(step for step, *_ in event_files.curves(self.events)["train/loss"]),
                         50)

    def test_after_a_kill_shows_each_update_once(self):
        endless = ["--trace-end", "repeat-last", "--epochs", 2000, "--checkpoint-every", 40]
        kills = 0
        begin = [*RUN[:-2], "--tensorboard", *endless]
        for words, ranks in ((begin, 2), (["train", "--resume"], 1), (["train", "--resume"], 3)):
            self.kill_while_it_runs(words, ranks)
            kills += 1
        last = len(self.lines("update"))
        result = rubato(*RESUME, "--stop-after-update", last + 10, ranks=2,
                        directory=self.directory)
        self.assertEqual(result.code, 75, result.message)
        self.assertEqual(len(self.files()), kills + 1)
        starts = [event_files.events_of(file)[1].step for file in self.files()]
        ends = [max(event.step for event in event_files.events_of(file)) for file in self.files()]
        self.assertEqual([start % 40 for start in starts], [1] * len(starts))
        self.assertTrue(any(start <= end for start, end in zip(starts[1:], ends)), (starts, ends))
        self.check_curves(last=last + 10)

    def kill_while_it_runs(self, words, ranks):
        """Every rank at once, between two checkpoints, a while after its first update."""
        before = len(self.files())
        run = self.directory / "run"
        command = command_line([*words, "--out", run], ranks=ranks)
        with subprocess.Popen(command, cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                deadline = time.monotonic() + PATIENCE
                while time.monotonic() < deadline and not self.has_run_on(before, 100):
                    time.sleep(0.005)
                for rank in ranks_in(run).values():
                    os.kill(rank, signal.SIGKILL)
            finally:
                process.kill()
        self.assertTrue(self.has_run_on(before, 100))

    def has_run_on(self, files_before, updates):
        files = self.files()
        if len(files) == files_before:
            return False
        return len(event_files.events_of(files[-1])) > updates


class Refusals(TensorboardTest):
    def test_without_a_directory(self):
        for words in (["--tensorboard"], ["--config", "options.ini"]):
            self.write("options.ini", "tensorboard = true\n")
            result = self.refuse(64, [], *RUN[:-2], *words, ranks=2)
            self.assertEqual(result.message, "rubato: --tensorboard: no directory is written to; "
                                             "give --out DIR\n")

    def test_of_another_value(self):
        self.refuse(64, ["--tensorboard maybe", "true or false"], *RUN, "--tensorboard=maybe",
                    ranks=2)

    def test_where_the_files_cannot_be(self):
        self.write("run/tensorboard", "in the way")
        self.refuse(73, ["cannot write in run/tensorboard"], *RUN, "--tensorboard", ranks=2)
        self.succeed(*RUN, ranks=2)  # what was refused has begun nothing
        metrics = (self.directory / "run" / "metrics.jsonl").read_bytes()
        self.refuse(73, ["cannot write in run/tensorboard"], *RUN, "--tensorboard", "--overwrite",
                    ranks=2)
        self.assertEqual((self.directory / "run" / "metrics.jsonl").read_bytes(), metrics)


if __name__ == "__main__":
    unittest.main()
