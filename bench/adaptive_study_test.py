"""Tests of what adaptive_study.py makes of its runs' reports."""

import argparse
import pathlib
import tempfile
import unittest
import unittest.mock as mock

import adaptive_study

TARGET = 88


def report_of(updates, reached_at):
    """Of a run: (batch size, seconds) of each update, and the update at which it has learned."""
    return {"updates": [{"batch_size": batch, "seconds": seconds} for batch, seconds in updates],
            "evaluations": [{"update": reached_at - 1, "accuracy": 0.87},
                            {"update": reached_at, "accuracy": 0.89},
                            {"update": reached_at + 1, "accuracy": 0.7}]}


class Times(unittest.TestCase):
    def setUp(self):
        self.initial = report_of([(64, 0.5)] * 12, reached_at=10)

    def test_end_when_the_run_has_first_learned_enough(self):
        report = report_of([(64, 1), (64, 2), (128, 4), (128, 8), (128, 16)], reached_at=3)
        self.assertEqual(adaptive_study.seconds_to(report, TARGET), 7)
        self.assertEqual(adaptive_study.seconds_to(report, TARGET, seconds_of_update=3), 9)
        self.assertEqual(adaptive_study.seconds_to(report, 95), float("inf"))

    def test_of_a_run_that_stays_do_not_depend_on_how_fast_the_machine_was(self):
        slowed = report_of([(64, 0.8)] * 12, reached_at=10)
        self.assertAlmostEqual(adaptive_study.initial_times(slowed, self.initial, TARGET), 1)

    def test_count_larger_batches_and_further_updates(self):
        larger = report_of([(64, 0.5)] * 5 + [(128, 0.8)] * 7, reached_at=10)
        self.assertAlmostEqual(adaptive_study.initial_times(larger, self.initial, TARGET), 1.3)
        longer = report_of([(64, 0.7)] * 16, reached_at=15)
        self.assertAlmostEqual(adaptive_study.initial_times(longer, self.initial, TARGET), 1.5)

    def test_of_a_slow_beginning_count_and_are_no_measure(self):
        slow = report_of([(64, 1.5)] + [(64, 0.5)] * 11, reached_at=10)
        self.assertAlmostEqual(adaptive_study.initial_times(slow, self.initial, TARGET), 1.2)

    def test_have_no_end_where_the_run_never_learns_enough(self):
        never = report_of([(64, 1)] * 5, reached_at=2)
        never["evaluations"] = never["evaluations"][:1]
        self.assertEqual(adaptive_study.initial_times(never, self.initial, TARGET), float("inf"))
        self.assertEqual(adaptive_study.initial_times(self.initial, never, TARGET), 0)

    def test_of_choosing_are_the_median_of_what_the_rounds_found_and_are_kept(self):
        options = argparse.Namespace(build=pathlib.Path("build"), rate="", seconds=3, rounds=3)
        per_cent = mock.Mock(side_effect=[9, 4, -2])
        with (tempfile.TemporaryDirectory() as directory,
              mock.patch("overheads.Ways"), mock.patch("overheads.overhead", per_cent)):
            study = adaptive_study.Study(options, pathlib.Path(directory))
            for _ in range(2):
                self.assertAlmostEqual(study.price_of_choosing(seed=1), 1.04)
        per_cent.assert_called_with(mock.ANY, "adaptive", "adascale")


if __name__ == "__main__":
    unittest.main()
