"""PyTorch's side of the comparison: DistributedDataParallel over Gloo, at its best on a CPU.

usage: pytorch_ddp.py [--model mnist] [--ranks 2] [--minibatch 32] [--substeps 1] [--seconds 4]
                      [--updates N] [--bound] [--log FILE]

Trains on one random minibatch that stays in memory, so nothing but computation and communication is
measured: no data are read, shuffled or copied. One thread a rank; images channels-last, which is
PyTorch's fastest layout for convolutions on a CPU. With --bound each rank stays on a core, as
mpirun has ours do. An update is `substeps` minibatches a rank, synchronised at the last of them
only (no_sync), then SGD with momentum. One rank trains the model itself, without
DistributedDataParallel. Prints one line of JSON; with --log, the file gets one for each update as
it ends, as `rubato train` writes them to metrics.jsonl.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import sys
import time

import torch
import torch.distributed
import torch.multiprocessing
import torch.nn.functional as F

from rubato_train import image_of

# The models that tests/peer finds to compute what Rubato's do.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "peer"))
from torch_models import make_model  # noqa: E402

WARM_UP_UPDATES = 5
LEAST_UPDATES = 5
CLASSES = 10


def make(model, shape):
    return make_model(model, shape[1] * shape[2], shape[0]).to(memory_format=torch.channels_last)


def channels_last(images):
    return images.to(memory_format=torch.channels_last)


def loss_of(model, inputs, labels):
    return F.nll_loss(model(inputs), labels)


class Training:
    """A rank's replica, its minibatch, and one update of both sides' protocol."""

    def __init__(self, options):
        torch.manual_seed(0)
        shape = image_of(options.model)
        self.model = make(options.model, shape)
        if options.ranks > 1:
            self.model = torch.nn.parallel.DistributedDataParallel(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.inputs = channels_last(torch.randn(options.minibatch, *shape))
        self.labels = torch.randint(0, CLASSES, (options.minibatch,))
        self.substeps = options.substeps
        self.ranks = options.ranks
        self.batch_size = options.ranks * options.substeps * options.minibatch

    def update(self):
        self.optimizer.zero_grad()
        for substep in range(1, self.substeps + 1):
            is_accumulating = substep < self.substeps and self.ranks > 1
            with self.model.no_sync() if is_accumulating else contextlib.nullcontext():
                loss_of(self.model, self.inputs, self.labels).backward()
        self.optimizer.step()

    def seconds_for(self, updates, after_each=lambda: None):
        self.barrier()
        begin = time.perf_counter()
        for _ in range(updates):
            self.update()
            after_each()
        self.barrier()
        return time.perf_counter() - begin

    def updates_in(self, seconds):
        """As many as fill the time, the same number on every rank."""
        probe = 3
        updates = round(seconds * probe / self.seconds_for(probe))
        count = torch.tensor([max(LEAST_UPDATES, updates)])
        if self.ranks > 1:
            torch.distributed.broadcast(count, 0)
        return int(count)

    def barrier(self):
        if self.ranks > 1:
            torch.distributed.barrier()


def train(rank, options, port):
    torch.set_num_threads(1)
    if options.bound:
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})
    if options.ranks > 1:
        torch.distributed.init_process_group(
            "gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=options.ranks)
    training = Training(options)
    training.seconds_for(WARM_UP_UPDATES)
    updates = options.updates or training.updates_in(options.seconds)
    if rank == 0 and options.log:
        with open(options.log, "w", encoding="ascii") as log:
            line = json.dumps({"type": "update", "batch_size": training.batch_size})
            seconds = training.seconds_for(updates, lambda: print(line, file=log, flush=True))
    else:
        seconds = training.seconds_for(updates)
    samples = updates * training.batch_size
    if rank == 0:
        print(json.dumps({"system": "PyTorch DDP", "version": torch.__version__, **vars(options),
                          "updates": updates, "seconds_per_update": seconds / updates,
                          "samples_per_second": samples / seconds}), flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mnist")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--minibatch", type=int, default=32)
    parser.add_argument("--substeps", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--updates", type=int, help="so many, in place of --seconds")
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--log")
    options = parser.parse_args()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    os.environ["OMP_NUM_THREADS"] = "1"
    if options.ranks == 1:
        train(0, options, 0)
    else:
        torch.multiprocessing.spawn(train, (options, free_port()), options.ranks)


if __name__ == "__main__":
    main()
