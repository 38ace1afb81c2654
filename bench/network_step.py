"""A training step over a slow link, beside what it computes and what it sends.

usage: network_step.py [--build build/bench] [--rounds 5] [--seconds 2] [--rate 1gbit]
                       [--burst 256kb] [--models MODEL ...] [--substeps 1]

Two hosts of one rank each (network namespaces of this machine, tests/cluster) with links of --rate.
A step that hides the shorter of the two behind the longer takes as long as the same step of the
same ranks on one host, or as the exact sum of as many elements alone (allreduce_bench: of one
minibatch on each host, or of several), whichever is more. It may take less: dense layers' gradients
travel as factors where these are fewer than half as many numbers (optim/factor_plan.hpp). So the
step is also shown beside what it computes and what it sends, a number of which takes what it does
in the sum alone; and beside the same step by sums alone (--allreduce node-shared).

A link that was idle lets 256 KB pass at once. An update of `mnist` sends 88, and does not feel the
rate; --burst 32kb makes it do so.

No step hides everything: no layer's gradient can be sent before it is computed, and sending begins
in the last backward pass. About how fast a step can be for that is printed, too. It takes the
layers' times to be as their arithmetic, and counts twice what both the step on one host and the sum
alone have of adding up, so that a step may come out a little faster.
"""

import statistics
import sys

import allreduce
import measure
import model_costs
import update_costs
from measure import Figure
from rubato_train import ENVIRONMENT, MODELS, Case, Rubato

HOSTS = 2
UPDATES_IN_TURN = 33  # the first ones try factors and sums, three by three (optim/agreed_way.hpp)
BEYOND_THE_LONGER_AT_MOST = 1.15


SMALLEST_FACTORED = 2 * 4096  # numbers of a weight
MOST_GRADIENTS = 4  # that a rank has room for: its own, and those that it makes of factors


def numbers_sent(layer, case):
    """On each host's link and each way, where two hosts have one rank each."""
    if len(layer.tensors[0]) != 2 or HOSTS * case.substeps > MOST_GRADIENTS:
        return layer.parameters
    outputs, inputs = layer.tensors[0]
    weights = outputs * inputs
    factors = case.substeps * case.minibatch * (outputs + inputs)
    if weights < SMALLEST_FACTORED or 2 * factors >= weights:
        return layer.parameters
    return layer.parameters - weights + factors


def sending_seconds(case, summing):
    """Of what a step sends, where the sum of all gradients takes as long as `summing`."""
    numbers = sum(numbers_sent(layer, case) for layer in model_costs.layers_of(case.model))
    return summing * numbers / model_costs.parameters_of(case.model)


def least_seconds(case, computing, summing):
    """Of a step that computes as long as on one host, and sends as fast as the sum of all gradients
    alone.

    When the gradient of a layer's weights is there, what is sent of this layer and of those before
    it is still to come.
    """
    layers = model_costs.layers_of(case.model)
    seconds_per_flop = computing / (case.substeps * model_costs.flops_per_sample(case.model))
    seconds_per_number = summing / model_costs.parameters_of(case.model)
    flops_left = unsent = 0
    least = computing
    for layer in layers:  # backwards in time: the first layer's gradient is the last one
        unsent += numbers_sent(layer, case)
        if layer is not layers[0]:
            flops_left += layer.forward_flops  # for its inputs' gradient
        least = max(least, computing - flops_left * seconds_per_flop
                    + unsent * seconds_per_number)
        flops_left += layer.forward_flops  # for its weights'
    return least


def way_of_summing(case):
    """That moves what a step of the case does: each host has one rank."""
    return allreduce.EXACT_OF_ONE if case.substeps == 1 else allreduce.EXACT


def figures(options, rubato, case):
    link = update_costs.launcher(HOSTS, case, options.rate, options.burst)
    updates = rubato.updates_in(case, options.seconds, launcher=link)
    parameters = model_costs.parameters_of(case.model)
    program = [*link, options.build / "bench" / "allreduce_bench", "--rounds=11", parameters]

    def sum_alone():
        table = allreduce.rows_of(measure.run(program, ENVIRONMENT))
        return table[parameters][way_of_summing(case)][0] / 1e6

    def step(*more, launcher=()):
        seconds = rubato.updates(case, UPDATES_IN_TURN + updates, *more, launcher=launcher)
        return statistics.median(seconds[UPDATES_IN_TURN:])

    rounds = measure.in_turn(options.rounds, {
        "over the link": lambda: step(launcher=link), "on one host": step,
        "the sum alone": sum_alone,
        "by sums": lambda: step(*update_costs.SUMS_ALONE, launcher=link)})
    alone = list(zip(rounds["on one host"], rounds["the sum alone"]))
    longer = [max(pair) for pair in alone]
    longer_of_sent = [max(computing, sending_seconds(case, summing))
                      for computing, summing in alone]
    note = ", ".join(f"{name} {1e3 * statistics.median(times):.3g} ms"
                     for name, times in rounds.items())
    least = [least_seconds(case, *pair) for pair in alone]
    yield Figure.of_rounds(f"{case}: step over the longer part",
                           measure.ratios(rounds["over the link"], longer), "x",
                           at_most=BEYOND_THE_LONGER_AT_MOST, note=note)
    yield Figure.of_rounds(f"{case}: about the least it can be",
                           measure.ratios(least, longer), "x")
    yield Figure.of_rounds(f"{case}: step over computing or what it sends",
                           measure.ratios(rounds["over the link"], longer_of_sent), "x")
    yield Figure.of_rounds(f"{case}: by sums alone, over the step",
                           measure.ratios(rounds["by sums"], rounds["over the link"]), "x")


def run(options, report):
    rubato = Rubato(options.build)
    for model in options.models:
        for substeps in options.substeps:
            for figure in figures(options, rubato, Case(model, substeps, HOSTS)):
                report.add(figure)


def parser():
    made = measure.parser(__doc__, models=MODELS)
    made.add_argument("--substeps", type=int, nargs="+", default=[1])
    made.add_argument("--rate", default="1gbit", help="of each host's link (default %(default)s)")
    made.add_argument("--burst", metavar="SIZE",
                      help="what a link that was idle lets pass at once (default 256kb)")
    return made


if __name__ == "__main__":
    sys.exit(measure.main("network_step", parser(), run))
