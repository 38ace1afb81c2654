"""rubato launch with the real mpirun and training: ranks die, devices come and go, and the weights
at the end are those of a run that nothing has disturbed.

environment: as ../app/rubato_command.py
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from rubato_command import LaunchedTest, json_lines, ranks_in  # noqa: E402

UPDATES = 3000  # some seconds: on a busy machine mpirun takes up to two to pass a signal on
TRAIN = ["--data", "digits", "--model", "mlp:256,256", "--batch-size", 96, "--updates", UPDATES,
         "--rule", "adascale", "--checkpoint-every", 100]


class Launch(LaunchedTest):
    @classmethod
    def setUpClass(cls):
        cls.digest = None

    def launch(self, *options):
        return self.start(*options, "--mpirun", os.environ["RUBATO_MPIEXEC"], "--", *TRAIN,
                          "--out", self.run_directory, stderr=subprocess.DEVNULL)

    def updates(self):
        return [line["update"] for line in json_lines(self.run_directory / "metrics.jsonl")
                if line["type"] == "update"]

    def ranks_started(self):
        return [event["ranks"] for event in self.events()
                if event["event"] in ("start", "continue")]

    def wait_for_update(self, number):
        self.wait(lambda: max(self.updates(), default=0) >= number)

    def finishes(self, process):
        """With every update once, and the weights of the undisturbed run."""
        self.ends_with(process, 0)
        self.assertEqual(self.names()[-1], "finish")
        self.assertEqual(self.updates(), list(range(1, UPDATES + 1)))
        self.assertEqual(ranks_in(self.run_directory), {})
        self.assertEqual(self.state_digest(self.run_directory), self.undisturbed_digest())

    def state_digest(self, run):
        checkpoint = run / "checkpoints" / f"ckpt-{UPDATES}.h5"
        return self.succeed("checkpoint", "digest", checkpoint).output.split()[0]

    def undisturbed_digest(self):
        if Launch.digest is None:
            straight = self.directory / "straight"
            self.succeed("train", *TRAIN, "--out", straight)
            Launch.digest = self.state_digest(straight)
        return Launch.digest

    def test_a_killed_rank_costs_the_updates_since_the_checkpoint_only(self):
        process = self.launch("--ranks", "2")
        for failures, update in enumerate((150, 450), start=1):
            self.wait_for_update(update)
            killed = ranks_in(self.run_directory)
            self.assertEqual(sorted(killed), [0, 1])
            os.kill(killed[failures - 1], signal.SIGKILL)
            self.wait(lambda: self.names().count("restart") == failures)
            self.assertFalse([pid for pid in killed.values() if os.path.exists(f"/proc/{pid}/exe")])
        self.finishes(process)
        self.assertEqual(self.names(), ["start", *["failure", "restart"] * 2, "finish"])

    def test_a_killed_mpirun_is_a_failure_like_any_other(self):
        process = self.launch("--ranks", "2")
        self.wait_for_update(150)
        rank = ranks_in(self.run_directory)[0]
        status = pathlib.Path(f"/proc/{rank}/status").read_text()
        mpirun = int(status.split("PPid:")[1].split()[0])
        os.kill(mpirun, signal.SIGKILL)
        self.finishes(process)
        self.assertEqual(self.names(), ["start", "failure", "restart", "finish"])

    def test_the_ranks_follow_the_devices(self):
        devices = self.write("devices", "1")
        process = self.launch("--ranks", "1:2", "--capacity-file", devices, "--settle", "0.1")
        for done, (update, number) in enumerate(((150, "2"), (500, "1")), start=1):
            self.wait_for_update(update)
            devices.write_text(number)
            self.wait(lambda: self.names().count("continue") == done)
        self.finishes(process)
        self.assertEqual(self.names(),
                         ["start", "rescale", "continue", "rescale", "continue", "finish"])
        self.assertEqual(self.ranks_started(), [1, 2, 1])

    def test_the_ranks_follow_a_history_of_devices(self):
        history = self.write("history.csv", "time,GPUs\n0,1\n0.5,2\n")
        process = self.launch("--ranks", "1:2", "--capacity-trace", history, "--settle", "0.1")
        self.finishes(process)
        self.assertEqual(self.ranks_started(), [1, 2])

    def test_a_stopped_run_goes_on_when_launched_again(self):
        process = self.launch("--ranks", "2")
        self.wait_for_update(150)
        process.terminate()
        self.ends_with(process, 75)
        state = json.loads((self.run_directory / "state.json").read_text())
        self.assertEqual((state["state"], state["update"]), ("preempted", max(self.updates())))
        self.finishes(self.launch("--ranks", "1"))
        self.assertEqual(self.names(), ["start", "stop", "start", "finish"])


if __name__ == "__main__":
    unittest.main()
