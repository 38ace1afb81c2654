"""An optimizer's step at 25.6 million parameters: beside a plain copy, and beside PyTorch's.

usage: optimizer_step.py [--build build/bench] [--rounds 5]

Ours and the copy are of one program (optimizers_bench), on one core. The copy is the better of two,
and counts what it reads and writes, as the optimizers do. PyTorch's is the best of four: parameters
as one tensor or in ResNet-50's, tensor by tensor or all at once (foreach); one thread. It has no
LARS and no LAMB. What a step could be at best, reading its arrays and doing no more, stands beside.
So does a step on two cores: two of ours at once, each over half of the parameters, as an owner
steps its slice, though in memory of its own; beside two of PyTorch's, each over all of them, as
DistributedDataParallel has them.
"""

import concurrent.futures
import itertools
import math
import multiprocessing
import statistics
import sys
import time

import measure
import model_costs
from measure import Figure

SIZE = 25_600_000
BYTES = {"sgd momentum torch": 20, "adam": 28, "lars paper": 20, "lamb": 40}  # for each parameter
READING = {"sgd momentum torch": "read 3", "adam": "read 4"}  # gradient, parameters and state
OF_COPY_AT_LEAST = {"lars paper": 75, "lamb": 75}  # per cent
OF_COPY_AT_LEAST_ELSE = 80
OF_PYTORCH_AT_LEAST = {"sgd momentum torch": 1.9, "adam": 5}
BESIDE_PYTORCH = tuple(OF_PYTORCH_AT_LEAST)
PYTORCH_STEPS = 3
RANKS = 2
LONGEST_WAIT_SECONDS = 60  # of one process of PyTorch's for the other


def seconds_by_name(build, seconds, names, size):
    """From wall clock, as PyTorch's are."""
    found = measure.benchmarks(
        build / "bench" / "optimizers_bench", f"--benchmark_min_time={min(seconds, 0.5)}",
        f"--benchmark_filter=^({'|'.join(names)})/{size}$")
    return {one["name"].rpartition("/")[0]: 1e-6 * one["real_time"] for one in found}


def our_bytes_per_second(build, seconds):
    """By optimizer, as if reading its arrays were all of it too, and of the best copy."""
    seconds_of = seconds_by_name(build, seconds, ("copy.*", "read.*", *BYTES), SIZE)
    speeds = {name: SIZE * BYTES[name] / seconds_of[name] for name in BYTES}
    speeds |= {reading: SIZE * BYTES[name] / seconds_of[reading]
               for name, reading in READING.items()}
    speeds["copy"] = max(8 * SIZE / taken for name, taken in seconds_of.items()
                         if name.startswith("copy"))
    return speeds


def our_bytes_per_second_of_ranks(build, seconds):
    """By optimizer, of all parameters, if each rank steps its slice."""
    with concurrent.futures.ThreadPoolExecutor(RANKS) as pool:
        asked = [pool.submit(seconds_by_name, build, seconds, BESIDE_PYTORCH, SIZE // RANKS)
                 for _ in range(RANKS)]
        of_ranks = [one.result() for one in asked]
    return {name: SIZE * BYTES[name] / max(rank[name] for rank in of_ranks)
            for name in BESIDE_PYTORCH}


def pytorch_sides():
    """By optimizer, ways to make one that is ready to step."""
    import torch
    torch.set_num_threads(1)
    kinds = {"sgd momentum torch": lambda tensors, foreach: torch.optim.SGD(
                 tensors, lr=1e-6, momentum=0.9, weight_decay=1e-4, foreach=foreach),
             "adam": lambda tensors, foreach: torch.optim.Adam(
                 tensors, lr=1e-6, weight_decay=1e-4, foreach=foreach)}
    layouts = ([(SIZE,)], model_costs.tensors_of("resnet50"))

    def parameters(shapes):
        for shape in shapes:
            tensor = torch.full(shape, 0.5, requires_grad=True)
            tensor.grad = torch.full(shape, 0.01)
            yield tensor

    return {name: [lambda make=make, shapes=shapes, foreach=foreach:
                   (make(list(parameters(shapes)), foreach), shapes)
                   for shapes, foreach in itertools.product(layouts, (False, True))]
            for name, make in kinds.items()}


def pytorch_seconds(optimizer, shapes, meet):
    """Of a step over SIZE parameters."""
    optimizer.step()
    meet()
    taken = []
    for _ in range(PYTORCH_STEPS):
        begin = time.perf_counter()
        optimizer.step()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken) * SIZE / sum(map(math.prod, shapes))


def pytorch_seconds_of_ways(barrier=None):
    """By optimizer. With a barrier, each way's timed steps begin when all processes are ready."""
    meet = barrier.wait if barrier else lambda: None
    return {name: [pytorch_seconds(*make(), meet) for make in ways]
            for name, ways in pytorch_sides().items()}


def pytorch_bytes_per_second():
    return {name: SIZE * BYTES[name] / min(ways)
            for name, ways in pytorch_seconds_of_ways().items()}


def fastest_way(*of_processes):
    """Its time, by the process that is slower with it; each has the times of all ways, in order."""
    return min(map(max, zip(*of_processes)))


def pytorch_bytes_per_second_of_processes():
    """By optimizer, of all parameters, if each process steps all of them."""
    spawning = multiprocessing.get_context("spawn")
    with (spawning.Manager() as manager,
          concurrent.futures.ProcessPoolExecutor(RANKS, mp_context=spawning) as pool):
        barrier = manager.Barrier(RANKS, timeout=LONGEST_WAIT_SECONDS)
        asked = [pool.submit(pytorch_seconds_of_ways, barrier) for _ in range(RANKS)]
        of_processes = [one.result() for one in asked]
    return {name: SIZE * BYTES[name] / fastest_way(*(ways[name] for ways in of_processes))
            for name in BESIDE_PYTORCH}


def beside_pytorch(rounds, name):
    def times_speed_of(side, theirs):
        return measure.ratios(*([one[key] for one in rounds[which]]
                                for which, key in (side, theirs)))

    pytorch = ("pytorch", name)
    yield Figure.of_rounds(f"{name}: times PyTorch's speed",
                           times_speed_of(("rubato", name), pytorch), "x",
                           at_least=OF_PYTORCH_AT_LEAST[name])
    yield Figure.of_rounds(f"{name}: reading its arrays, times PyTorch's speed",
                           times_speed_of(("rubato", READING[name]), pytorch), "x")
    yield Figure.of_rounds(f"{name}: {RANKS} ranks over {RANKS} PyTorch processes",
                           times_speed_of(("ranks", name), ("pytorch, processes", name)), "x")


def run(options, report):
    sides = {"rubato": lambda: our_bytes_per_second(options.build, options.seconds)}
    if measure.python_version_of("torch") != "not installed":
        sides |= {"pytorch": pytorch_bytes_per_second,
                  "ranks": lambda: our_bytes_per_second_of_ranks(options.build, options.seconds),
                  "pytorch, processes": pytorch_bytes_per_second_of_processes}
    rounds = measure.in_turn(options.rounds, sides)
    copies = [ours["copy"] for ours in rounds["rubato"]]
    report.add(Figure.of_rounds("copy of 25.6 M floats", [speed / 1e9 for speed in copies], "GB/s"))
    for name in BYTES:
        ours = [one[name] for one in rounds["rubato"]]
        report.add(Figure.of_rounds(
            f"{name}: bytes/s, of the copy's",
            [100 * ratio for ratio in measure.ratios(ours, copies)], "%",
            at_least=OF_COPY_AT_LEAST.get(name, OF_COPY_AT_LEAST_ELSE),
            note=f"{statistics.median(ours) / 1e9:.1f} GB/s"))
        if "pytorch" in rounds and name in BESIDE_PYTORCH:
            for figure in beside_pytorch(rounds, name):
                report.add(figure)
    report.details["bytes_per_second"] = rounds
    if "pytorch" not in rounds:
        report.skip("PyTorch's optimizers; on Debian: apt-get install python3-torch")


if __name__ == "__main__":
    sys.exit(measure.main("optimizer_step", measure.parser(__doc__), run))
