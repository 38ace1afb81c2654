"""Tests of the least that a step over a network can take."""

import unittest
from unittest import mock

import allreduce
import model_costs
import network_step
from rubato_train import Case


class LeastSeconds(unittest.TestCase):
    TWO = [model_costs.dense(100, 100), model_costs.dense(100, 10)]  # 23 parts of arithmetic

    # Of minibatches that are too large for factors.
    def least(self, layers, computing, summing, substeps=1):
        with mock.patch.object(model_costs, "layers_of", return_value=layers):
            case = Case("any", substeps, 2, minibatch=1000)
            return network_step.least_seconds(case, computing, summing)

    def test_of_one_layer_follows_all_computing(self):
        self.assertAlmostEqual(self.least([model_costs.dense(7, 9)], 4, 3), 7)

    def test_hides_sums_behind_what_is_still_to_compute(self):
        # forwards and for their gradient the weights count twice, the last ones for the inputs' too
        first, last = 100 * 100 + 100, 100 * 10 + 10
        self.assertAlmostEqual(self.least(self.TWO, 23, 1), 23 + first / (first + last))

    def test_is_all_sums_after_the_first_gradient_where_they_are_long(self):
        self.assertAlmostEqual(self.least(self.TWO, 23, 1000), 12 + 1000)

    def test_begins_to_sum_in_the_last_backward_pass(self):
        self.assertAlmostEqual(self.least(self.TWO, 4 * 23, 1000, substeps=4), 3 * 23 + 12 + 1000)

    def test_has_the_gradient_of_normalisation_before_that_of_the_weights(self):
        layers = [model_costs.dense(10, 10), model_costs.Norm(10)]  # passed twice: a second each
        self.assertAlmostEqual(self.least(layers, 2, 110 + 20), 1 + 110 + 20)


class NumbersSent(unittest.TestCase):
    LAYER = model_costs.dense(500, 100)  # 50000 weights, 600 numbers of factors a sample

    def sent(self, layer, substeps=1, minibatch=32):
        return network_step.numbers_sent(layer, Case("any", substeps, 2, minibatch))

    def test_are_factors_where_these_are_less_than_half(self):
        self.assertEqual(self.sent(self.LAYER), 100 + 32 * 600)
        self.assertEqual(self.sent(self.LAYER, minibatch=41), 100 + 41 * 600)
        self.assertEqual(self.sent(self.LAYER, minibatch=42), 100 + 50000)

    def test_are_those_of_every_substep_while_there_is_room(self):
        self.assertEqual(self.sent(self.LAYER, substeps=2, minibatch=20), 100 + 40 * 600)
        self.assertEqual(self.sent(self.LAYER, substeps=3, minibatch=1), 100 + 50000)

    def test_are_gradients_of_small_weights_and_of_convolutions(self):
        self.assertEqual(self.sent(model_costs.dense(80, 100), minibatch=1), 100 + 8000)
        kernel = model_costs.Matrix((100, 500, 1, 1), 9)
        self.assertEqual(self.sent(kernel), 100 + 50000)

    def test_take_their_share_of_the_sum(self):
        with mock.patch.object(model_costs, "layers_of", return_value=[self.LAYER]):
            seconds = network_step.sending_seconds(Case("any", 1, 2), 501)
        self.assertAlmostEqual(seconds, (100 + 32 * 600) / 100)

    def test_make_a_step_over_a_link_faster(self):
        with mock.patch.object(model_costs, "layers_of", return_value=[self.LAYER]):
            least = network_step.least_seconds(Case("any", 1, 2), 2, 501)
        self.assertAlmostEqual(least, 2 + (100 + 32 * 600) / 100)


class WayOfSumming(unittest.TestCase):
    def test_is_of_floats_where_a_host_has_one_minibatch(self):
        of_one, of_two = (network_step.way_of_summing(Case("any", substeps, network_step.HOSTS))
                          for substeps in (1, 2))
        self.assertEqual((of_one, of_two), (allreduce.EXACT_OF_ONE, allreduce.EXACT))


if __name__ == "__main__":
    unittest.main()
