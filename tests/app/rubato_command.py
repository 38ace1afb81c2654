"""Runs the `rubato` that was built, for the tests of the command.

The path of the program comes in the environment variable RUBATO_COMMAND, set by CMake.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

SECONDS = 3  # bad input is refused, and small questions are answered, within this time
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden"


class Result:
    def __init__(self, code, output, message, seconds):
        self.code, self.output, self.message, self.seconds = code, output, message, seconds

    def json(self):
        return json.loads(self.output)


def rubato(*arguments, directory=None):
    begin = time.monotonic()
    done = subprocess.run(
        [os.environ["RUBATO_COMMAND"], *map(str, arguments)],
        capture_output=True, text=True, timeout=60, cwd=directory, check=False)
    return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


class CommandTest(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def write_trace(self, rows, name="trace.csv"):
        lines = [f"{step},{size}" for step, size in enumerate(rows)]
        return self.write(name, "\n".join(["step,batchsize", *lines]) + "\n")

    def succeed(self, *arguments):
        result = rubato(*arguments, directory=self.directory)
        self.assertEqual(result.code, 0, result.message)
        return result

    def refuse(self, code, words, *arguments):
        """One sentence on stderr with all the words, nothing on stdout, the code, in time."""
        result = rubato(*arguments, directory=self.directory)
        context = f"rubato {' '.join(map(str, arguments))}\n{result.message}"
        self.assertEqual(result.code, code, context)
        self.assertEqual(result.output, "", context)
        self.assertTrue(result.message.startswith("rubato: "), context)
        self.assertEqual(result.message.count("\n"), 1, context)
        self.assertLess(result.seconds, SECONDS, context)
        for word in words:
            self.assertIn(word, result.message, context)
        return result
