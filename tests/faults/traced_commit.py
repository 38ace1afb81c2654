"""One checkpoint commit, its system calls as strace saw them, and ways to make each of them fail.

A run directory begins with the checkpoint of update 1. Two commits are looked at: "next", that of
update 2, after which update 1 is removed; and "replace", that of update 1 again, with another seed.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMIT_ONCE = os.environ["COMMIT_ONCE"]
NEWEST_GOOD = os.environ["NEWEST_GOOD"]

CALLS = ("openat,fallocate,write,sync_file_range,fsync,close,getdents64,mkdir,"
         "rename,renameat,renameat2,unlink,unlinkat")
OLD = "1 7"  # what newest_good prints of the checkpoint that is there
COMMITS = {"next": (2, 8), "replace": (1, 8)}  # update and seed
VALUES = 1000
# A file system in memory, where there is one: thousands of flushes need not wait for a disk.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def commit_command(runs, update, seed, values=VALUES):
    return [COMMIT_ONCE, str(update), str(seed), str(values), *map(str, runs)]


def commit(runs, update, seed, values=VALUES, **options):
    """To each of the runs, in one process."""
    return subprocess.run(commit_command(runs, update, seed, values), text=True, timeout=60,
                          capture_output=True, check=False, **options)


def newest_good(runs):
    """One line for each run, in one process: "<update> <seed>" or "none"."""
    done = subprocess.run([NEWEST_GOOD, *map(str, runs)], text=True, timeout=60,
                          capture_output=True, check=True)
    return done.stdout.splitlines()


class Call:
    """A system call: its name, that it is its thread's number-th of it, and what it was about.

    strace writes texts and paths as hexadecimal numbers (-xx), with no quotes or brackets in them.
    """

    def __init__(self, line, counts):
        thread, self.name = re.match(r"(\d+) +(\w+)\(", line).groups()
        self.number = counts[thread, self.name] = counts.get((thread, self.name), 0) + 1
        self.result = int(re.search(r"\) += (-?\d+)", line)[1])
        strings = re.findall(r'"([^"]*)"', line)
        self.strings = [bytes.fromhex(text.replace("\\x", "")) for text in strings]
        opened = re.findall(r"<([^>]*)>", line.split(" = ")[0])
        self.opened = [bytes.fromhex(text.replace("\\x", "")).decode() for text in opened]

    @property
    def paths(self):
        """Of the files it names; of one it has open, if it names none."""
        if self.name == "write" or not self.strings:
            return self.opened[:1]
        return [os.path.join(at, name.decode()) for at, name in zip(self.opened, self.strings)]

    def __str__(self):
        return f"{self.name} number {self.number} of {' '.join(map(os.path.basename, self.paths))}"


def whole_lines(lines):
    """Joins what strace splits where two threads take turns."""
    begun = {}
    for line in lines:
        thread = line.split()[0]
        if "<unfinished" in line:
            begun[thread] = line[:line.index("<unfinished")]
        elif " resumed>" in line:
            yield begun.pop(thread) + line[line.index(" resumed>") + len(" resumed>"):]
        else:
            yield line


def traced(command, *options):
    return subprocess.run(["strace", "-f", "-qq", "-e", f"trace={CALLS}", *options, *command],
                          text=True, timeout=60, capture_output=True, check=False)


def recorded_calls(run, update, seed, values=VALUES):
    """Commits, and returns the calls that were about the run directory, in order."""
    log = pathlib.Path(f"{run}.log")
    done = traced(commit_command([run], update, seed, values),
                  "-y", "-xx", "-s", "10000000", "-o", str(log))
    assert done.returncode == 0, done.stderr
    counts = {}
    lines = whole_lines(log.read_text().splitlines())
    calls = [Call(line, counts) for line in lines if " = " in line]
    return [call for call in calls if any(path.startswith(str(run)) for path in call.paths)]


class FaultTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.mkdtemp(prefix="rubato-faults-", dir=IN_MEMORY)
        self.scratch = pathlib.Path(scratch).resolve()
        self.addCleanup(shutil.rmtree, self.scratch)
        self.old_run = self.new_directory("old")
        self.assertEqual(commit([self.old_run], 1, 7).returncode, 0)

    def skip(self, reason):
        print(f"\nskipped: {reason}", flush=True)  # a line of its own, for the list of them
        self.skipTest(reason)

    def new_directory(self, name):
        directory = self.scratch / name
        directory.mkdir()
        return directory

    def copy_of_old(self, name):
        return pathlib.Path(shutil.copytree(self.old_run, self.scratch / name))

    def inject_everywhere(self, which, faults, values=VALUES):
        """Repeats a commit, each time with one fault in one call of it.

        faults(call) yields what strace shall inject; yields (call, fault, run, finished process).
        """
        update, seed = COMMITS[which]
        calls = recorded_calls(self.copy_of_old(f"{which}-recorded"), update, seed, values)
        jobs = [(call, fault) for call in calls for fault in faults(call)]

        def job(number):
            call, fault = jobs[number]
            run = self.copy_of_old(f"{which}-{number}")
            done = traced(commit_command([run], update, seed, values), "-s", "0", "-o", "/dev/null",
                          "-e", f"inject={call.name}:{fault}:when={call.number}")
            return call, fault, run, done

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(job, range(len(jobs))))

    def check_next_commit(self, runs):
        done = commit(runs, 3, 9)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(newest_good(runs), ["3 9"] * len(runs))
        for run in runs:
            names = sorted(os.listdir(run / "checkpoints"))
            self.assertEqual(names, ["ckpt-3.h5", "ckpt-3.h5.sha256", "latest"])

    def check_all(self, outcomes, expected):
        """Every run holds one of expected(...), and can go on with the next commit."""
        runs = [run for _, _, run, _ in outcomes]
        for (call, fault, _, done), found in zip(outcomes, newest_good(runs)):
            with self.subTest(call=str(call), fault=fault):
                self.assertIn(found, expected(call, fault, done))
        self.check_next_commit(runs)


def main():
    probe = ["strace", "-qq", "-o", "/dev/null", "-e", "trace=none", "true"]
    if shutil.which("strace") is None:
        print("skipped: strace is not installed")
        sys.exit(77)
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        print("skipped: strace may not trace a program here")
        sys.exit(77)
    unittest.main(verbosity=2)
