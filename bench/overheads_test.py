"""Tests of what overheads.py makes of updates' times and of speeds."""

import unittest

import overheads


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


if __name__ == "__main__":
    unittest.main()
