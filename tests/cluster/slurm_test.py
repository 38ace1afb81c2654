"""examples/slurm/train.sbatch on a Slurm of two nodes: runs that are stopped, killed, cancelled.

usage: run_on_slurm.sh --nodes 2 python3 slurm_test.py [unittest arguments]
environment: RUBATO_COMMAND, RUBATO_SLURM_DATA (the data set, default a made-up one),
RUBATO_TIME_FACTOR

Slurm's own notice before the time limit comes with a minute's tolerance, so the tests send the
signal themselves, as it would: to the batch script alone.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

TEMPLATE = pathlib.Path(__file__).resolve().parents[2] / "examples/slurm/train.sbatch"
SHARED = pathlib.Path("/mnt")  # what all hosts of the cluster see
PATIENCE = 120 * int(os.environ.get("RUBATO_TIME_FACTOR", "1"))  # seconds
DATA = os.environ.get("RUBATO_SLURM_DATA", "synthetic:samples=60000,shape=1x28x28,classes=10")
UPDATES = 400
ENDLESS = 10**6
RUN = ["--data", DATA, "--model", "mnist", "--batch-size", "256", "--rule", "adascale"]
KILL_WAIT = 5  # slurm.conf.in
# By the signal that rank 0 got, or, where it heard of it in the sum first, by one to another rank.
STOPPED = r"stopped by (?:SIG\w+|a signal to another rank) after update (\d+);"


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def wait_until(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


def newest_update(directory):
    latest = directory / "checkpoints/latest"
    return int(re.search(r"ckpt-(\d+)", latest.read_text())[1]) if latest.exists() else -1


def digest(directory):
    last = directory / f"checkpoints/ckpt-{UPDATES}.h5"
    return output_of(os.environ["RUBATO_COMMAND"], "checkpoint", "digest", last).split()[0]


class Job:
    def __init__(self, name, updates=UPDATES, checkpoint_every=10, processors=2, **environment):
        self.directory = SHARED / name
        self.log_file = SHARED / f"{name}.log"
        self.id = output_of("env", *[f"{name}={value}" for name, value in environment.items()],
                            "sbatch", "--parsable", f"--output={self.log_file}",
                            f"--mincpus={processors}", TEMPLATE, self.directory, *RUN,
                            f"--updates={updates}", f"--checkpoint-every={checkpoint_every}")

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    def story(self):
        """The lines of the template and of what rubato says besides its report."""
        return "\n".join(re.findall(r"^(?:train\.sbatch|rubato|srun: error): .*", self.log(), re.M))

    def facts(self):
        """What Slurm knows: JobState, Restarts, ExitCode (code:signal), ..."""
        text = output_of("scontrol", "show", "job", "--oneliner", self.id)
        return dict(re.findall(r"(\S+?)=(\S*)", text))

    def wait_for_start(self, number):
        wait_until(f"start {number} of job {self.id}",
                   lambda: re.search(rf"start {number}: \d+ ranks", self.log()))

    def wait_for_state(self, *states):
        wait_until(f"job {self.id} {states}, which said\n{self.log()}",
                   lambda: self.facts()["JobState"] in states)

    def wait_for_updates(self, count):
        """So many more than there are, and with a checkpoint."""
        goal = newest_update(self.directory) + count
        wait_until(f"a checkpoint after update {goal} in\n{self.log()}",
                   lambda: newest_update(self.directory) >= goal)

    def ask_to_stop(self):
        output_of("scancel", "--batch", "--signal=USR1", self.id)

    def update(self, *settings):
        output_of("scontrol", "update", f"JobId={self.id}", *settings)

    def starts(self):
        """(ranks, nodes) of each start, as the template told them."""
        found = re.findall(r"start \d+: (\d+) ranks on (\S+),", self.log())
        return [(int(ranks), nodes) for ranks, nodes in found]

    def state(self):
        """What the run tells about itself; empty before its beginning."""
        file = self.directory / "state.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def kill_rank(self, rank):
        marks = {f"SLURM_JOB_ID={self.id}", f"SLURM_PROCID={rank}"}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
                if marks <= set((process / "environ").read_text(errors="replace").split("\0")):
                    os.kill(int(process.name), signal.SIGKILL)


class TrainTemplate(unittest.TestCase):
    straight = None  # the digest of the run that nothing interrupts, on one rank

    def tearDown(self):
        """What a failed test has left must not keep the nodes from the next one."""
        output_of("scancel", "--user=root")
        wait_until("an empty queue", lambda: not output_of("squeue", "--noheader"))

    @classmethod
    def setUpClass(cls):
        directory = SHARED / "straight"
        output_of(os.environ["RUBATO_COMMAND"], "train", *RUN, "--updates", str(UPDATES),
                  "--out", directory)
        cls.straight = digest(directory)
        print(f"\nstraight run on 1 rank: {cls.straight}")

    def expect_end(self, job, code=0):
        job.wait_for_state("COMPLETED", "FAILED")
        print(f"\n{job.story()}\n{job.id}: {job.facts()['JobState']} {job.facts()['ExitCode']}")
        self.assertEqual(job.facts()["ExitCode"], f"{code}:0", job.log())

    def expect_same_result(self, job):
        self.expect_end(job)
        print(f"digest {digest(job.directory)}")
        self.assertEqual(digest(job.directory), self.straight)

    def test_a_run_goes_on_with_other_numbers_of_ranks_and_loses_no_update(self):
        ranks = [4, 3, 1, 2, 4, 3]
        changes = [("NumNodes=1-1", "MinCPUsNode=3"), ("MinCPUsNode=1",), ("NumNodes=2-2",),
                   ("MinCPUsNode=2",), ("NumNodes=1-1", "MinCPUsNode=3")]
        job = Job("chain")
        for start, change in enumerate(changes):
            job.wait_for_start(start)
            job.wait_for_updates(20)
            job.ask_to_stop()
            job.wait_for_state("PENDING")
            job.update(*change)
        self.expect_same_result(job)
        self.assertEqual([start[0] for start in job.starts()], ranks)
        stopped = re.findall(STOPPED, job.log())
        resumed = re.findall(r"going on from \S+ckpt-(\d+)\.h5", job.log())
        self.assertEqual(len(stopped), len(changes))
        self.assertEqual(resumed, stopped)

    def test_a_run_takes_the_nodes_that_are_free(self):
        job = Job("free_nodes")
        job.wait_for_updates(20)
        output_of("scontrol", "update", "NodeName=host2", "State=DRAIN", "Reason=test")
        try:
            job.ask_to_stop()
            job.wait_for_start(1)
        finally:
            output_of("scontrol", "update", "NodeName=host2", "State=RESUME")
        job.wait_for_updates(20)
        job.ask_to_stop()
        self.expect_same_result(job)
        self.assertEqual(job.starts(), [(4, "host[1-2]"), (2, "host1"), (4, "host[1-2]")])

    def test_the_death_of_a_rank_ends_the_start_and_not_the_run(self):
        job = Job("death", processors=1)
        job.wait_for_updates(20)
        job.kill_rank(1)  # alone on its host: otherwise Slurm's PMIx may end the job without -K1
        killed = time.monotonic()
        wait_until("the start's end", lambda: "start 0: ended with code 137" in job.log())
        seconds = time.monotonic() - killed
        self.expect_same_result(job)
        print(f"the other ranks were gone {seconds:.1f} s after the first")
        self.assertLess(seconds, KILL_WAIT + 10)
        self.assertEqual(len(job.starts()), 2)

    def test_a_run_that_dies_without_a_new_checkpoint_is_not_tried_again(self):
        job = Job("no_progress", updates=ENDLESS, checkpoint_every=ENDLESS)
        wait_until("its beginning", lambda: job.state().get("state") == "running")
        job.kill_rank(3)
        self.expect_end(job, code=137)
        self.assertIn("not queued again: this start has left no new checkpoint", job.log())

    def test_a_stop_before_the_ranks_listen_is_not_lost(self):
        late_srun = SHARED / "late/srun"  # loses the first signal, as srun itself does for a moment
        late_srun.parent.mkdir()
        late_srun.write_text("#!/bin/bash\n"
                             "trap '' USR1; sleep 3; trap - USR1; exec /usr/bin/srun \"$@\"\n")
        late_srun.chmod(0o755)
        job = Job("early", updates=ENDLESS, PATH=f"{late_srun.parent}:{os.environ['PATH']}")
        job.wait_for_start(0)
        job.ask_to_stop()
        job.wait_for_start(1)
        output_of("scancel", job.id)

    def test_a_cancelled_run_writes_a_checkpoint_and_stays_cancelled(self):
        job = Job("cancelled", updates=ENDLESS)
        job.wait_for_updates(20)
        output_of("scancel", job.id)
        wait_until("its end", lambda: job.state()["state"] == "preempted")
        self.assertRegex(job.log(), STOPPED)
        time.sleep(2)
        self.assertEqual((job.facts()["JobState"], job.facts()["Restarts"]), ("CANCELLED", "0"))

    def test_a_wrong_option_ends_the_job_with_its_code(self):
        job = Job("wrong", updates=0.5)
        self.expect_end(job, code=64)
        self.assertEqual(job.facts()["Restarts"], "0")
        self.assertIn("--updates", job.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
