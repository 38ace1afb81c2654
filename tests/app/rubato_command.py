"""Runs the `rubato` that was built, for the tests of the command.

The path of the program comes in the environment variable RUBATO_COMMAND, the launcher in
RUBATO_MPIEXEC, both set by CMake; RUBATO_TIME_FACTOR is how much slower than a release build it is.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

TIME_FACTOR = float(os.environ.get("RUBATO_TIME_FACTOR", "1"))
# Bad input is refused, and small questions are answered, within this time.
SECONDS = 3 * TIME_FACTOR
ATTEMPTS = 3  # of which one must be in time: the machine may be busy with other things
# What has not come after so long does not come, however slow the machine and busy with other tests.
PATIENCE = 60 * TIME_FACTOR
# What the event loop of mpirun itself prints at times when it ends a job on a busy machine.
LAUNCHER_NOISE = re.compile(r"^\[warn\] Epoll .*\n", re.MULTILINE)
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


class Result:
    def __init__(self, code, output, message, seconds):
        self.code, self.output, self.seconds = code, output, seconds
        self.message = LAUNCHER_NOISE.sub("", message)

    def json(self):
        return json.loads(self.output)


def command_line(arguments, ranks=None, under=()):
    """Through mpirun if a number of ranks is given. In the foreground: what the tests themselves
    run under, as nohup, may ignore signals.
    """
    launcher = [] if ranks is None else [os.environ["RUBATO_MPIEXEC"], "-q", "-n", str(ranks)]
    return ["/usr/bin/env", "--default-signal=INT,HUP", *under, *launcher,
            os.environ["RUBATO_COMMAND"], *map(str, arguments)]


def rubato(*arguments, ranks=None, directory=None, **process):
    begin = time.monotonic()
    done = subprocess.run(
        command_line(arguments, ranks), capture_output=True, text=True, timeout=PATIENCE,
        cwd=directory, check=False, **process)
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


def read_terminal(descriptor):
    """All that comes until the other end is closed; closes this one."""
    shown = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(descriptor)
    return shown


def json_lines(path):
    """Those that are whole: another process may be writing."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def ranks_in(directory):
    """Process ids by rank, of the run in this directory alone, on all hosts that share a kernel."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        rank = [word for word in environment if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
        if rank and str(directory).encode() in words:
            found[int(rank[0].split(b"=")[1])] = int(process.name)
    return found


class CommandTest(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def write(self, name, content):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def write_trace(self, rows, name="trace.csv"):
        lines = [f"{step},{size}" for step, size in enumerate(rows)]
        return self.write(name, "\n".join(["step,batchsize", *lines]) + "\n")

    def succeed(self, *arguments, ranks=None):
        result = rubato(*arguments, ranks=ranks, directory=self.directory)
        self.assertEqual(result.code, 0, result.message or result.output)
        return result

    def refuse(self, code, words, *arguments, ranks=None, output="", **process):
        """One sentence on stderr with all the words, `output` on stdout, the code, in time.

        What is refused changes nothing, so that it can be asked for again.
        """
        for _ in range(ATTEMPTS):
            result = rubato(*arguments, ranks=ranks, directory=self.directory, **process)
            if result.seconds < SECONDS:
                break
        context = f"rubato {' '.join(map(str, arguments))} ({ranks or 'no'} ranks)\n"
        context += result.message
        self.assertEqual(result.code, code, context)
        self.assertRegex(result.output, rf"\A{output}\Z", context)
        self.assertRegex(result.message, r"\Arubato: [^\n]+\n\Z", context)
        self.assertLess(result.seconds, SECONDS, context)
        for word in words:
            self.assertIn(word, result.message, context)
        return result


class LaunchedTest(CommandTest):
    """A test of `rubato launch` with --out run_directory."""

    def setUp(self):
        super().setUp()
        self.run_directory = self.directory / "run"

    def start(self, *words, stderr, under=()):
        process = subprocess.Popen(command_line(["launch", *words], under=under),
                                   stdout=subprocess.DEVNULL, stderr=stderr, text=True)
        if process.stderr:
            self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def events(self):
        return json_lines(self.run_directory / "events.jsonl")

    def names(self):
        return [event["event"] for event in self.events()]

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, self.events())
            time.sleep(0.02)

    def ends_with(self, process, code):
        self.assertEqual(process.wait(PATIENCE), code, self.events())
