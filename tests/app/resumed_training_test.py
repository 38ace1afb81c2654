"""rubato train, stopped and resumed: what it says, what it takes from the checkpoint, what it
refuses, and that the result is that of the run which never stopped."""

import json
import os
import signal
import subprocess
import time
import unittest

from rubato_command import PATIENCE, CommandTest, command_line, rubato

ROWS = [40] * 20 + [100] * 10 + [200] * 4 + [72] * 10 + [300] * 3
RUN = ["train", "--data", "digits", "--model", "mlp:16", "--trace", "trace.csv", "--rule",
       "adascale"]
RESUME = ["train", "--out", "run", "--resume"]


class ResumeTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.write_trace(ROWS)

    def digest(self, directory):
        return self.succeed("checkpoint", "digest", directory).output.split()[0]

    def updates(self, directory):
        """What the metrics say of each update, but for the time it took."""
        text = (self.directory / directory / "metrics.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        updates = [line for line in lines if line["type"] in ("update", "epoch", "eval")]
        for line in updates:
            line.pop("seconds", None)
            line.pop("repeated", None)
            line.pop("imbalance", None)  # of the ranks, which differ
        return updates

    def stop(self, update, *arguments, ranks=2, code=75):
        result = rubato(*arguments, "--stop-after-update", update, ranks=ranks,
                        directory=self.directory)
        self.assertEqual(result.code, code, result.message)
        return result

    def refused(self, code, words, *arguments):
        before = (self.directory / "run" / "metrics.jsonl").read_bytes()
        self.refuse(code, words, *arguments, ranks=2)
        self.assertEqual((self.directory / "run" / "metrics.jsonl").read_bytes(), before)


class Continuation(ResumeTest):
    def test_on_other_ranks_and_without_repeating_an_option_gives_the_same_run(self):
        self.succeed(*RUN, "--out", "straight", ranks=1)
        self.stop(13, *RUN, "--out", "run", "--resume", "--assignment", "balanced",
                  ranks=3)  # there is nothing to resume yet
        (self.directory / "trace.csv").unlink()  # the run has a copy
        stopped = self.stop(29, *RESUME, ranks=1)
        self.assertEqual(stopped.message.splitlines()[-1],
                         "rubato: stopped by --stop-after-update after update 29; go on with: "
                         "mpirun -q -n RANKS rubato train --out run --resume")
        resumed = self.succeed(*RESUME, "--assignment", "strided", ranks=4)
        self.assertIn("rubato: going on from run/checkpoints/ckpt-29.h5\n", resumed.message)
        self.assertEqual(self.digest("run"), self.digest("straight"))
        self.assertEqual(self.updates("run"), self.updates("straight"))

    def test_of_a_finished_run_has_nothing_to_do(self):
        self.succeed(*RUN, "--out", "run")
        before = (self.directory / "run" / "metrics.jsonl").read_bytes()
        again = self.succeed(*RESUME, ranks=2)
        self.assertEqual(again.message, "rubato: the run in run is at its end, after update 47; "
                                        "there is nothing to do\n")
        self.assertEqual((self.directory / "run" / "metrics.jsonl").read_bytes(), before)

    def test_may_have_a_later_end(self):
        for name, updates in (("straight", 40), ("run", 20)):
            self.succeed(*RUN, "--updates", updates, "--out", name)
        self.succeed(*RESUME, "--updates", 40, ranks=2)
        self.assertEqual(self.digest("run"), self.digest("straight"))

    def test_after_a_signal_to_mpirun_and_with_a_code_of_ones_own(self):
        command = command_line([*RUN, "--trace-end", "repeat-last", "--epochs", 2000, "--out",
                                "run", "--preempt-exit-code", 99], ranks=2)
        with subprocess.Popen(command, cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as process:
            try:
                self.wait_for_updates()
                process.send_signal(signal.SIGUSR1)
                message = process.communicate(timeout=PATIENCE)[1]
            finally:
                process.kill()
        self.assertEqual(process.returncode, 99, message)
        self.assertIn("rubato: stopped by SIGUSR1 after update ", message)
        state = json.loads((self.directory / "run" / "state.json").read_text(encoding="utf-8"))
        self.assertEqual(state["state"], "preempted")
        updates = [line["update"] for line in self.updates("run") if line["type"] == "update"]
        self.assertEqual(updates, list(range(1, state["update"] + 1)))

    def test_does_not_depend_on_the_copy_of_its_trace(self):
        self.stop(13, *RUN, "--out", "run")
        copy = self.directory / "run" / "trace.csv"
        whole = copy.read_text(encoding="utf-8")
        self.write("run/trace.csv", whole.replace("0,40", "0,8", 1))
        self.succeed(*RESUME)
        self.assertEqual(copy.read_text(encoding="utf-8"), whole)

    def test_after_a_limit_of_time(self):
        result = rubato(*RUN, "--trace-end", "repeat-last", "--epochs", 100000, "--out", "run",
                        "--max-seconds", 1, ranks=2, directory=self.directory)
        self.assertEqual(result.code, 75, result.message)
        self.assertIn("stopped by --max-seconds after update ", result.message)

    def wait_for_updates(self):
        deadline = time.monotonic() + PATIENCE
        metrics = self.directory / "run" / "metrics.jsonl"
        while time.monotonic() < deadline:
            if metrics.exists() and '"type":"update"' in metrics.read_text(encoding="utf-8"):
                return
            time.sleep(0.02)
        self.fail("the run does not begin")


class Refusals(ResumeTest):
    def test_of_what_defines_the_result(self):
        self.stop(5, *RUN, "--out", "run")
        self.write_trace([40] * 99, "other.csv")
        for code, words, arguments in (
                (64, ["--lr 0.1: the run to go on with has 0.05"], ["--lr", 0.1]),
                (64, ["--seed 1: the run to go on with has 42"], ["--seed", 1]),
                (64, ["--optimizer adam"], ["--optimizer", "adam"]),
                (65, ["the trace differs from the checkpoint's: other.csv:22 (row 20): found batch"
                      " 40", "expected batch 100 as in run/trace.csv"], ["--trace", "other.csv"]),
                (65, ["the training set differs"],
                 ["--data", "synthetic:samples=1438,shape=1x8x8,classes=10"])):
            with self.subTest(arguments=arguments):
                self.refused(code, words, *RESUME, *arguments)

    def test_of_another_end_where_the_schedule_depends_on_it(self):
        self.stop(5, "train", "--data", "digits", "--model", "mlp:16", "--batch-size", 64,
                  "--epochs", 3, "--schedule", "cosine", "--out", "run")
        self.refused(64, ["--epochs", "schedule"], *RESUME, "--epochs", 4)

    def test_of_a_directory_that_holds_a_run_or_none_at_all(self):
        self.stop(5, *RUN, "--out", "run")
        self.refused(73, ["run holds a run already", "--resume", "--overwrite"], *RUN, "--out",
                     "run")
        self.refused(64, ["--resume and --overwrite exclude each other"], *RESUME, "--overwrite")
        self.refuse(64, ["--resume", "--out"], "train", "--resume", ranks=2)

    def test_of_a_directory_in_use(self):
        command = command_line([*RUN, "--trace-end", "repeat-last", "--epochs", 100000, "--out",
                                "run"], ranks=1)
        with subprocess.Popen(command, cwd=self.directory, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            try:
                deadline = time.monotonic() + PATIENCE
                while not (self.directory / "run" / "state.json").exists():
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.02)
                state = json.loads((self.directory / "run/state.json").read_text(encoding="utf-8"))
                self.refuse(73, ["in use by process", str(state["pid"]), os.uname().nodename],
                            *RESUME)
            finally:
                process.kill()
        # A lock whose holder is dead is no lock. (It outlives mpirun by a moment.)
        deadline = time.monotonic() + PATIENCE
        while os.path.exists(f"/proc/{state['pid']}"):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.stop(2, *RUN, "--out", "run", "--overwrite", ranks=1)

    def test_of_damaged_checkpoints_until_a_good_one_is_found(self):
        self.stop(9, *RUN, "--checkpoint-every", 4, "--out", "run")
        newest = self.directory / "run" / "checkpoints" / "ckpt-9.h5"
        content = bytearray(newest.read_bytes())
        content[len(content) // 2] ^= 1
        newest.write_bytes(content)
        result = self.succeed(*RESUME, ranks=3)
        self.assertIn("ckpt-9.h5: does not match its checksum", result.message)
        self.assertIn("going on from run/checkpoints/ckpt-8.h5", result.message)
        self.succeed(*RUN, "--out", "straight")
        self.assertEqual(self.digest("run"), self.digest("straight"))


if __name__ == "__main__":
    unittest.main()
