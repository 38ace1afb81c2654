"""Tests of trainings that take turns."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock as mock

import alternation
import measure
from alternation import Run
from measure import Failure

# Tells of updates as a training does: each takes so many seconds of a processor. The work is a
# child's, as ranks are children of mpirun.
TRAINING = """
import os, sys, time
log, updates, seconds, exit_status = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
if os.fork() == 0:
    with open(log, "a") as file:
        print('{"type":"context"}', file=file, flush=True)
        for update in range(updates):
            end = time.process_time() + seconds
            while time.process_time() < end:
                pass
            print('{"type":"update","batch_size":8}', file=file, flush=True)
    os._exit(int(exit_status))
sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


class Turns(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def training(self, updates, seconds, exit_status=0, warm_up=2):
        log = pathlib.Path(self.directory.name) / str(len(os.listdir(self.directory.name)))
        log.touch()
        return Run([sys.executable, "-c", TRAINING, log, updates, seconds, exit_status],
                   os.environ, log, warm_up)

    def test_what_counts_lies_between_turns_in_which_updates_ended(self):
        log = pathlib.Path(self.directory.name) / "log"
        run = Run([], os.environ, log, warm_up=1)
        update = '{"type":"update","batch_size":%d}\n'
        with log.open("w", encoding="utf-8", buffering=1) as file:
            run.mark(1)  # nothing is told yet
            for seconds, told in ((2, '{"type":"context"}\n' + update % 100 + update % 100),
                                  (3, ""), (4, '{"type":"upd'), (6, 'ate","batch_size":6}\n'),
                                  (7, update % 1 + update % 3), (8, update % 1000)):
                file.write(told)
                file.flush()
                run.mark(seconds)
        self.assertEqual(run.samples_per_second(), (6 + 1 + 3) / (7 - 2))

    def test_begin_after_the_first_checkpoint(self):
        run = self.training(100_000, 0.001)
        run.awaited["checkpoint"] = 1
        told = threading.Timer(0.5, lambda: run.log.open("a").write('{"type":"checkpoint"}\n'))
        told.start()
        begin = time.monotonic()
        with run:
            self.assertGreater(time.monotonic() - begin, 0.45)

    def test_are_enough_for_the_slowest_updates(self):
        self.assertEqual(alternation.updates_in(3, 0.002, 0.01), 1500)
        self.assertEqual(alternation.updates_in(1, 0.25, 0.5), 24)

    def test_tell_trainings_apart_that_are_halted_while_others_go_on(self):
        made, begun, begin = [], [], Run.__enter__

        def sides():
            made.append([[self.training(120, 0.005)], [self.training(60, 0.01)],
                         [self.training(60, 0.01), self.training(60, 0.01)]])
            return made[-1]

        with mock.patch.object(Run, "__enter__", lambda run: begun.append(run) or begin(run)):
            quick, slow, both = alternation.speeds(sides)
        self.assertAlmostEqual(quick / slow, 2, delta=0.5)
        self.assertAlmostEqual(quick / both, 1, delta=0.5)
        in_order, reversed_order = made[0], made[1][::-1]
        self.assertEqual(begun, sum([*in_order, *reversed_order], []))

    def test_in_windows_count_what_was_done_in_those_that_counted(self):
        kept = []

        def first_and_last(measure_once, number):
            self.assertEqual(number, 2)
            kept.append([measure_once() for _ in range(3)][::2])
            return kept[-1]

        def sides():
            return [[self.training(5000, 0.005)],
                    [self.training(5000, 0.01), self.training(5000, 0.01)]]
        with mock.patch("machine.undisturbed_windows", first_and_last):
            quick, slow = alternation.speeds(sides, windows=2)
        forwards, backwards = (
            [sum(samples for samples, _ in side) / sum(seconds for _, seconds in side)
             for side in zip(*windows)] for windows in kept)
        self.assertAlmostEqual(quick, 2 / (1 / forwards[0] + 1 / backwards[1]))
        self.assertAlmostEqual(slow, 2 / (1 / forwards[1] + 1 / backwards[0]))
        for _, seconds in (*kept[0][0], *kept[1][1]):
            self.assertAlmostEqual(seconds, 16 * 0.03, delta=0.1)
        self.assertAlmostEqual(forwards[0], 8 / 0.005, delta=0.5 * 8 / 0.005)

    def test_in_windows_are_told_if_they_fail_or_end_before(self):
        for exit_status, error in ((3, "exit status 3"), (0, "over before its windows were")):
            with self.assertRaisesRegex(Failure, error):
                alternation.speeds(lambda: [[self.training(20, 0.002, exit_status)]], windows=1)

    def test_a_training_that_fails_is_told(self):
        for updates in (1, 50):  # before and after its warm-up
            with self.assertRaisesRegex(Failure, "exit status 3"):
                alternation.speeds(lambda: [[self.training(updates, 0.002, exit_status=3)]])

    def test_trainings_that_are_too_short_are_told(self):
        make_sides = mock.Mock(side_effect=lambda: [[self.training(3, 0.001)]])
        with self.assertRaisesRegex(Failure, "(?s)too short.* 3 0.001 0$"):
            alternation.speeds(make_sides)
        self.assertEqual(make_sides.call_count, alternation.ATTEMPTS)

    def test_trainings_that_were_too_short_once_begin_again(self):
        updates = iter([3, 100, 3, 3, 100])
        speed, = alternation.speeds(lambda: [[self.training(next(updates), 0.005)]])
        self.assertGreater(speed, 0)
        self.assertEqual(list(updates), [])

    def test_are_over_when_the_measurement_is_terminated(self):
        former = signal.getsignal(signal.SIGTERM)
        self.addCleanup(signal.signal, signal.SIGTERM, former)
        measure.end_in_order_when_terminated()
        with self.assertRaises(SystemExit), self.training(100_000, 0.001) as halted:
            os.kill(os.getpid(), signal.SIGTERM)
        for pid in halted.pids:
            self.assertTrue(self.ends(pid), pid)

    def test_nothing_goes_on_after_an_error(self):
        long_one = self.training(100_000, 0.001)
        with self.assertRaises(FileNotFoundError):
            alternation.speeds(lambda: [[long_one], [Run(["/no/program"], {}, "none", 1)]])
        self.assertIsNotNone(long_one.process.returncode)
        self.assertEqual(len(long_one.pids), 2)
        for pid in long_one.pids:
            self.assertTrue(self.ends(pid), pid)

    def test_begin_in_empty_directories_of_their_own(self):
        found = []

        def sides(directory):
            found.append((directory, list(directory.iterdir())))
            (directory / "log").touch()
            return [["first"], ["second"]]

        with mock.patch.object(alternation, "speeds_in_this_order",
                               side_effect=[[2, 6], [6, 2], [8, 1], [1, 8]]):
            self.assertEqual(alternation.speeds_in_rounds(2, sides), [(2, 8), (6, 1)])
        self.assertEqual(len({directory for directory, _ in found}), 4)
        for directory, files in found:
            self.assertEqual(files, [])
            self.assertFalse(directory.exists())

    @staticmethod
    def ends(pid):
        """Within ten seconds; perhaps nobody has asked yet how."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
            except OSError:
                return True
            if "State:\tZ" in status:
                return True
            time.sleep(0.01)
        return False


if __name__ == "__main__":
    unittest.main()
