"""rubato launch over two hosts: what happens to a rank on the other one ends the job soon.

RUBATO_HOST_WORDS comes from run_on_hosts.sh --once; RUBATO_COMMAND, RUBATO_MPIEXEC and
RUBATO_TIME_FACTOR as in ../app.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from rubato_command import PATIENCE, TIME_FACTOR, CommandTest, command_line, ranks_in  # noqa: E402

HANG_TIMEOUT = 5
END = 4 * TIME_FACTOR  # measured: 1.3 s with ten processes a core, without these settings 4.3 s
TRAIN = ["--data", "digits", "--model", "mlp:64", "--batch-size", 32, "--updates", 1000000,
         "--checkpoint-every", 100, "--hang-timeout", HANG_TIMEOUT]


class OtherHost(CommandTest):
    def setUp(self):
        super().setUp()
        self.run_directory = self.directory / "run"

    def launch(self, *options):
        mpirun = f"{os.environ['RUBATO_MPIEXEC']} {os.environ['RUBATO_HOST_WORDS']}"
        words = ["launch", "--ranks", 2, "--mpirun", mpirun, *options, "--", *TRAIN, "--out",
                 self.run_directory]
        process = subprocess.Popen(command_line(words), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        metrics = self.run_directory / "metrics.jsonl"
        end = time.monotonic() + PATIENCE
        while not metrics.exists() or metrics.read_text().count('"type":"update"') < 50:
            self.assertLess(time.monotonic(), end, "the run does not begin")
            time.sleep(0.05)
        return process

    def test_a_stopped_rank_ends_the_job_soon_after_the_hang_timeout(self):
        process = self.launch("--max-restarts", 0)
        ranks = ranks_in(self.run_directory)
        self.assertEqual(sorted(ranks), [0, 1])
        os.kill(ranks[1], signal.SIGSTOP)
        begin = time.monotonic()
        message = process.communicate(timeout=PATIENCE)[1]
        seconds = time.monotonic() - begin
        print(f"stopped rank: the job was over {seconds:.2f} s after it stopped, with"
              f" --hang-timeout {HANG_TIMEOUT}")
        self.assertIn("host1", message)
        self.assertGreater(seconds, HANG_TIMEOUT / 2)
        self.assertLess(seconds, HANG_TIMEOUT + END, message)
        end = time.monotonic() + PATIENCE  # the other host's ranks are gone a moment later
        while ranks_in(self.run_directory) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(ranks_in(self.run_directory), {})

    def test_a_stop_on_request_is_one_for_the_ranks_of_both_hosts(self):
        process = self.launch()
        process.terminate()
        message = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 75, message)
        state = json.loads((self.run_directory / "state.json").read_text())
        self.assertEqual(state["state"], "preempted")
        self.assertEqual(len(state["hosts"]), 2)
        events = (self.run_directory / "events.jsonl").read_text().splitlines()
        self.assertEqual([json.loads(line)["event"] for line in events], ["start", "stop"])
        self.assertEqual(ranks_in(self.run_directory), {})


if __name__ == "__main__":
    unittest.main()
