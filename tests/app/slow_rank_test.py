"""A rank that is slow is named: while `rubato train` runs, at its end, and in its metrics.

It is made slow by being stopped for most of the time.
"""

import os
import signal
import subprocess
import time
import unittest

from rubato_command import PATIENCE, CommandTest, command_line, json_lines, ranks_in

RANKS, SLOW = 2, 1
TRAIN = ["--data", "digits", "--model", "mlp:256,256", "--batch-size", 64, "--minibatch", 32,
         "--updates", 3000]
STOPPED_SECONDS, RUNNING_SECONDS = 0.05, 0.01


@unittest.skipIf(len(os.sched_getaffinity(0)) < RANKS, "ranks that share a core wait for the core")
class SlowRank(CommandTest):
    def process_of_slow_rank(self, training):
        end = time.monotonic() + PATIENCE
        while training.poll() is None and time.monotonic() < end:
            process = ranks_in(self.directory / "run").get(SLOW)
            if process is not None:
                return process
            time.sleep(0.02)
        self.fail("the training has not started")

    def slow_down(self, training):
        process = self.process_of_slow_rank(training)
        end = time.monotonic() + PATIENCE
        while training.poll() is None and time.monotonic() < end:
            try:
                for what, seconds in ((signal.SIGSTOP, STOPPED_SECONDS),
                                      (signal.SIGCONT, RUNNING_SECONDS)):
                    os.kill(process, what)
                    time.sleep(seconds)
            except ProcessLookupError:
                break

    def test_is_named(self):
        told, warned = self.directory / "told", self.directory / "warned"
        with open(told, "w") as output, open(warned, "w") as errors:
            training = subprocess.Popen(
                command_line(["train", *TRAIN, "--out", self.directory / "run"], ranks=RANKS),
                stdout=output, stderr=errors)
            self.addCleanup(training.kill)
            self.slow_down(training)
            self.assertEqual(training.wait(PATIENCE), 0, warned.read_text())
        self.assertRegex(warned.read_text(),
                         rf"rank {SLOW} on \S+ computes [\d.]+ times as long as the others")
        self.assertRegex(told.read_text(), rf"rank {SLOW} on \S+ is slow: a minibatch takes it")
        end = json_lines(self.directory / "run" / "metrics.jsonl")[-1]
        self.assertEqual(end["slow_rank"]["rank"], SLOW)
        self.assertGreater(end["slow_rank"]["ratio"], 1.5)


if __name__ == "__main__":
    unittest.main()
