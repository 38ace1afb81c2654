"""When a measurement waits for two cores, and when it is taken again."""

import contextlib
import io
import itertools
import pathlib
import types
import unittest
import unittest.mock as mock

import alternation
import machine
import measure
from machine import Machine
from measure import Figure

TWO_CORES, ONE_CORE = 2.0, 1.1
ALIKE, UNLIKE = 0.97, 0.8


class Clock:
    def __init__(self):
        self.seconds = 0

    def __call__(self):
        return self.seconds

    def sleep(self, seconds):
        self.seconds += seconds


def machine_of(*at_once, patience=100, slower_over_faster=itertools.repeat(UNLIKE)):
    """That answers so, one answer after the other; and its clock."""
    answers, clock = zip(at_once, slower_over_faster), Clock()

    def ask():
        value, slower = next(answers)
        return None if value is None else {"at_once": value, "slower_over_faster": slower,
                                           "gigabytes_per_second": 30.0}

    return Machine(ask, patience, clock, clock.sleep), clock


class Rounds(unittest.TestCase):
    def setUp(self):
        self.measured = 0

    def measure(self, clock, seconds=10):
        def once():
            clock.seconds += seconds
            self.measured += 1
            return self.measured
        return once

    def test_are_measured_once_on_two_cores(self):
        watched, clock = machine_of(TWO_CORES, TWO_CORES)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 1)
        self.assertEqual(watched.note, "0 s in vain")

    def test_wait_for_two_cores(self):
        watched, clock = machine_of(ONE_CORE, ONE_CORE, TWO_CORES, TWO_CORES)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 1)
        self.assertEqual(watched.note, "2 s in vain")

    def test_are_measured_again_if_the_cores_went_meanwhile(self):
        watched, clock = machine_of(TWO_CORES, ONE_CORE, ONE_CORE, TWO_CORES, TWO_CORES)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 2)
        self.assertEqual(watched.note, "11 s in vain")

    def test_count_after_all_when_patience_is_at_its_end(self):
        watched, clock = machine_of(TWO_CORES, ONE_CORE, ONE_CORE, ONE_CORE, ONE_CORE, ONE_CORE,
                                    TWO_CORES, ONE_CORE, TWO_CORES, ONE_CORE, patience=14)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 2)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 3)
        self.assertEqual(watched.note, "14 s in vain, 2 of 2 rounds without two such cores")

    def test_that_began_on_one_core_do_not_pass_for_better_ones(self):
        watched, clock = machine_of(ONE_CORE, TWO_CORES, patience=0)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 1)
        self.assertEqual(watched.note, "0 s in vain, 1 of 1 rounds without two such cores")

    def test_in_windows_count_between_looks_that_both_find_cores_alike(self):
        watched, clock = machine_of(*[TWO_CORES] * 7, slower_over_faster=(
            ALIKE, ALIKE, UNLIKE, ALIKE, UNLIKE, ALIKE, ALIKE))
        self.assertEqual(watched.undisturbed_windows(self.measure(clock), 2), [1, 6])
        self.assertEqual(watched.note, "40 s in vain")

    def test_in_windows_do_not_count_if_they_began_on_cores_unlike(self):
        watched, clock = machine_of(*[TWO_CORES] * 3, slower_over_faster=(UNLIKE, ALIKE, ALIKE))
        self.assertEqual(watched.undisturbed_windows(self.measure(clock), 1), [2])

    def test_in_windows_need_two_cores_even_if_the_threads_of_one_are_alike(self):
        watched, clock = machine_of(ONE_CORE, TWO_CORES, TWO_CORES,
                                    slower_over_faster=itertools.repeat(ALIKE))
        self.assertEqual(watched.undisturbed_windows(self.measure(clock), 1), [2])
        self.assertEqual(watched.note, "10 s in vain")

    def test_in_windows_count_after_all_when_patience_is_at_its_end(self):
        watched, clock = machine_of(*[TWO_CORES] * 5, patience=20)
        self.assertEqual(watched.undisturbed_windows(self.measure(clock), 3), [2, 3, 4])
        self.assertEqual(watched.note, "10 s in vain, 3 of 3 rounds without two such cores")

    def test_go_on_where_there_are_no_two_cpus(self):
        watched, clock = machine_of(*[None] * 5)
        self.assertEqual(watched.undisturbed(self.measure(clock)), 1)
        self.assertEqual(watched.undisturbed_windows(self.measure(clock), 2), [2, 3])
        self.assertEqual(watched.answers, [])


class Measurements(unittest.TestCase):
    def setUp(self):
        self.asked = 0

        def run(command):
            self.assertEqual(command, [pathlib.Path("build/bench/two_cores")])
            self.asked += 1
            return '{"at_once": 1.95, "slower_over_faster": 0.8, "gigabytes_per_second": 30.5}'
        patch = mock.patch.object(measure, "run", run)
        patch.start()
        self.addCleanup(patch.stop)
        self.options = types.SimpleNamespace(build=pathlib.Path("build"), patience=0)

    def figures_of(self, work):
        report = mock.Mock(figures=[])
        report.add.side_effect = report.figures.append
        measure.take(work, self.options, report)
        return report.figures

    def test_end_with_what_the_machine_was_like(self):
        def work(_, report):
            measure.in_turn(3, {"a": lambda: 1, "b": lambda: 2})
            report.add(Figure("a", 1))
        a, at_once, slower, speed = self.figures_of(work)
        self.assertEqual(self.asked, 6, "before and after each round")
        self.assertEqual((a.name, at_once.value, slower.value, speed.value), ("a", 1.95, 0.8, 30.5))
        self.assertEqual(at_once.note, "0 s in vain")

    def test_look_at_sides_that_are_not_compared(self):
        self.figures_of(lambda *_: measure.in_turn(3, {"a": lambda: 1, "b": lambda: 2},
                                                   are_compared=False))
        self.assertEqual(self.asked, 12)

    def test_leave_sides_alone_that_watch_themselves(self):
        self.figures_of(lambda *_: measure.in_turn(3, {"a": lambda: 1, "b": lambda: 2},
                                                   are_compared=False, watch_themselves=["b"]))
        self.assertEqual(self.asked, 6)

    def test_tell_of_windows_for_which_the_cores_were_not_alike(self):
        at_once, *_ = self.figures_of(lambda *_: machine.undisturbed_windows(lambda: 1, 1))
        self.assertEqual(at_once.note, "0 s in vain, 1 of 1 rounds without two such cores")

    def test_say_nothing_of_the_machine_if_they_did_not_look(self):
        self.assertEqual(self.figures_of(lambda options, report: None), [])

    def test_look_in_rounds_of_alternating_runs(self):
        with mock.patch.object(alternation, "speeds", lambda make_sides: [1, 2]):
            self.figures_of(lambda *_: alternation.speeds_in_rounds(2, None))
        self.assertEqual(self.asked, 4)

    def test_tell_of_the_machine_even_if_they_fail(self):
        def work(*_):
            measure.in_turn(1, {"a": lambda: 1})
            raise measure.Failure("no more")
        report = mock.Mock()
        with self.assertRaises(measure.Failure), contextlib.redirect_stdout(io.StringIO()):
            measure.take(work, self.options, report)
        self.assertEqual(report.add.call_count, 3)
        asked, _ = self.asked, measure.in_turn(1, {"a": lambda: 1})
        self.assertEqual(self.asked, asked, "the machine is no longer watched")

    def test_do_without_it_where_there_are_no_two_cpus(self):
        with mock.patch.object(measure, "run", side_effect=measure.Missing("two CPUs")):
            self.assertIsNone(measure.two_cores(pathlib.Path("build")))


if __name__ == "__main__":
    unittest.main()
