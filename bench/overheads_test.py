"""Tests of what overheads.py makes of updates' times and of speeds."""

import pathlib
import tempfile
import types
import unittest
from unittest import mock

import overheads
from rubato_train import WARM_UP_UPDATES


class Waiting(unittest.TestCase):
    def test_costs_nothing_where_all_updates_take_the_same(self):
        self.assertAlmostEqual(overheads.of_speed_if_waiting([3, 5, 4], [3, 5, 4]), 1)

    def test_is_for_whichever_run_was_held_up(self):
        self.assertAlmostEqual(overheads.of_speed_if_waiting([1, 3, 1, 3], [2, 2, 2, 2]), 0.8)
        self.assertAlmostEqual(overheads.of_speed_if_waiting([2, 6, 2], [2, 2, 6]), 5 / 7)

    def test_is_for_the_slower_run_where_one_is(self):
        self.assertAlmostEqual(overheads.of_speed_if_waiting([1, 1], [4, 4]), 0.4)


class Mixed(unittest.TestCase):
    def test_is_the_speed_of_all_where_it_is_the_same(self):
        self.assertAlmostEqual(overheads.speed_of_mixed({64: 9, 192: 9, 128: 9}), 9)

    def test_takes_each_batch_as_long_as_it_takes_alone(self):
        self.assertAlmostEqual(overheads.speed_of_mixed({10: 10, 30: 15, 20: 5}), 60 / 7)


class ChangingBatch(unittest.TestCase):
    def test_is_beside_the_mean_batch_and_beside_its_sizes(self):
        speed_of = {"changing": 4, "batch 64": 2, "batch 128": 8, "batch 192": 6}
        ways = mock.Mock(speeds=lambda *sides: [speed_of[name] for [name] in sides])
        # 64, 128 and 192 samples take 32, 16 and 32 seconds alone, 384 that change 96
        beyond_constant, beyond_its_sizes = overheads.changing_batch(ways)
        self.assertAlmostEqual(beyond_constant, 100)
        self.assertAlmostEqual(beyond_its_sizes, 20)

    def test_has_a_trace_for_all_updates_beside_the_slowest(self):
        rubato = mock.Mock(update_seconds=lambda case: case.batch_size / 256)
        with tempfile.TemporaryDirectory() as directory:
            ways = overheads.Ways(rubato, "resnet20", 1, pathlib.Path(directory))
            with mock.patch("alternation.speeds", side_effect=lambda make_sides: make_sides()):
                ways.speeds(["changing"], ["batch 192"])
            rows = (pathlib.Path(directory) / "trace.csv").read_text("ascii").splitlines()[1:]
        _, updates, _ = rubato.run.call_args_list[0].args
        self.assertGreaterEqual(len(rows), WARM_UP_UPDATES + updates)


class Scaling(unittest.TestCase):
    def test_watches_the_machine_itself(self):
        options = types.SimpleNamespace(only=["scaling", "timeline"], build=pathlib.Path("build"),
                                        models=["mnist"], seconds=1, rounds=1)
        with mock.patch("measure.in_turn") as in_turn, mock.patch.object(overheads, "Ways"):
            in_turn.return_value = {"scaling": [(1, 1, 1, 1)], "a timeline, beyond none": [0]}
            overheads.run(options, mock.Mock(details={}))
        self.assertEqual(in_turn.call_args.kwargs,
                         {"are_compared": False, "watch_themselves": ["scaling"]})

    def test_is_of_turns_on_cores_that_are_alike(self):
        speed_of = {"alone on core 0": 90, "alone on core 1": 110, "usual": 190}
        ways = mock.Mock(spec_set=["speeds_on_cores_alike", "updates_at_once"])
        ways.speeds_on_cores_alike = lambda *sides: [
            sum(speed_of[name] for name in side) for side in sides]
        ways.updates_at_once = lambda names: [[1, 3], [3, 1]]
        of_two, apart, waiting, both_of_apart = overheads.scaling(ways)
        self.assertAlmostEqual(of_two, 1.9)
        self.assertAlmostEqual(apart, 2)
        self.assertAlmostEqual(waiting, 2 * 2 / 3)
        self.assertAlmostEqual(both_of_apart, 0.95)

    def test_has_runs_that_are_longer_than_what_counts_of_them(self):
        rubato = mock.Mock(update_seconds=lambda case: case.batch_size / 256)
        with tempfile.TemporaryDirectory() as directory:
            ways = overheads.Ways(rubato, "resnet20", 1, pathlib.Path(directory))
            with mock.patch("alternation.speeds") as speeds:
                ways.speeds_on_cores_alike(["alone on core 1"], ["usual"])
            make_sides, windows = speeds.call_args.args
            self.assertEqual(list(map(len, make_sides())), [1, 1])
        of_one, of_two = (call.args[1] for call in rubato.run.call_args_list)
        self.assertEqual((of_one, of_two), (600 * 8, 600 * 4))
        self.assertEqual(windows, 3, "of half a second, to fill one")


class Only(unittest.TestCase):
    def test_takes_the_comparisons_named_by_a_part_of_their_names(self):
        self.assertEqual(list(overheads.comparisons(["AdaScale", "scaling"])),
                         ["scaling", "AdaScale, beyond the linear rule"])

    def test_left_out_takes_all(self):
        self.assertEqual(list(overheads.comparisons(None)),
                         ["scaling", "changing batch", *(what for what, *_ in overheads.OVERHEADS)])

    def test_refuses_words_that_no_comparison_has(self):
        with self.assertRaisesRegex(SystemExit, '"scales".*there are: scaling; changing batch'):
            overheads.comparisons(["scaling", "scales"])


if __name__ == "__main__":
    unittest.main()
