"""A whole training with a growing batch, beside PyTorch's DistributedDataParallel.

usage: growing_batch.py [--build build/bench] [--rounds 3] [--seconds 2] [--epochs 5] [--ranks 2]

Fashion-MNIST, model mnist, the batch doubling from 64 to 2048, the linear rule with warm-up. Ours
is the whole `rubato train`: images through the loader, the exact sum, evaluations, metrics. Theirs
(pytorch_ddp.py) is the rate at each of the trace's batch sizes, with as many substeps of the same
minibatch; over the run, the time that its rates give for the same samples. Both sides in turn.
Exit status 77 where a package is missing.
"""

import json
import pathlib
import statistics
import sys
import tempfile

import measure
import same_loss
import vs_pytorch
from rubato_train import ENVIRONMENT, MINIBATCH, Case, Rubato, require_fashion_mnist

MODEL = "mnist"
LEARNING_RATE, WARM_UP_EPOCHS = 0.005, 1  # for a batch of 64; times 32 at the end
SAMPLES = 60000


def write_trace(path, batches, epochs):
    """As many samples at each batch size, over all epochs."""
    rows = [batch for batch in batches for _ in range(epochs * SAMPLES // len(batches) // batch)]
    rows.append(batches[-1])
    path.write_text("step,batchsize\n" + "".join(f"{i},{b}\n" for i, b in enumerate(rows)),
                    encoding="ascii")


def train(rubato, ranks, trace, epochs, directory):
    measure.run(rubato.command(
        ranks, "--data", "fashion-mnist", "--model", MODEL, "--minibatch", MINIBATCH,
        "--trace", trace, "--trace-end", "repeat-last", "--epochs", epochs, "--rule", "linear",
        "--lr", LEARNING_RATE, "--warmup", WARM_UP_EPOCHS, "--schedule-by", "epoch",
        "--sum", "exact", "--out", directory), ENVIRONMENT)
    lines = (directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    metrics = [json.loads(line) for line in lines]
    return ([line for line in metrics if line["type"] == "update"],
            [line for line in metrics if line["type"] == "eval"])


def samples_and_seconds(updates):
    """Of each batch size in the trace."""
    totals = {}
    for update in updates:
        samples, seconds = totals.get(update["batch_size"], (0, 0.0))
        totals[update["batch_size"]] = (samples + update["batch_size"],
                                        seconds + update["seconds"])
    return totals


def over_all(samples, rate):
    return sum(samples.values()) / sum(samples[batch] / rate[batch] for batch in samples)


def substeps(batch, ranks):
    return batch // MINIBATCH // ranks


def print_curve(updates, evaluations):
    batch_of = {update["update"]: update["batch_size"] for update in updates}
    rate_of = {update["update"]: update["lr"] for update in updates}
    print(f"{'epoch':>7}{'batch':>7}{'rate':>9}{'test accuracy':>15}")
    for line in evaluations:
        print(f"{line['epoch']:>7.2f}{batch_of[line['update']]:>7}{rate_of[line['update']]:>9.4f}"
              f"{100 * line['accuracy']:>13.2f} %")


def print_rates(ranks, ours, theirs):
    """Of each round: batch size to (samples, seconds), and to samples per second."""
    print("\nsamples per second over all ranks, medians of the rounds")
    print(f"{'batch':>7}{'substeps':>10}{'Rubato':>10}{'PyTorch':>10}{'ratio':>7}")
    samples = {batch: count for batch, (count, _) in ours[0].items()}
    our_rate = {batch: statistics.median(one[batch][0] / one[batch][1] for one in ours)
                for batch in samples}
    their_rate = {batch: statistics.median(one[batch] for one in theirs) for batch in samples}
    for batch in samples:
        print(f"{batch:>7}{substeps(batch, ranks):>10}{our_rate[batch]:>10.0f}"
              f"{their_rate[batch]:>10.0f}{our_rate[batch] / their_rate[batch]:>7.2f}")
    totals = over_all(samples, our_rate), over_all(samples, their_rate)
    print(f"{'all':>7}{'':>10}{totals[0]:>10.0f}{totals[1]:>10.0f}{totals[0] / totals[1]:>7.2f}")


def run(options, report):
    vs_pytorch.prepare()
    require_fashion_mnist()
    same_loss.difference(Rubato(options.build), MODEL)
    batches = [options.smallest]
    while batches[-1] < options.largest:
        batches.append(2 * batches[-1])
    rubato = Rubato(options.build)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as directory:
        trace = pathlib.Path(directory, "trace.csv")
        write_trace(trace, batches, options.epochs)
        for number in range(options.rounds):
            updates, evaluations = train(rubato, options.ranks, trace, options.epochs,
                                         pathlib.Path(directory, f"run-{number}"))
            ours.append(samples_and_seconds(updates))
            theirs.append({batch: vs_pytorch.pytorch(
                Case(MODEL, substeps(batch, options.ranks), options.ranks),
                "--seconds", options.seconds)["samples_per_second"] for batch in ours[-1]})
    print_curve(updates, evaluations)
    print_rates(options.ranks, ours, theirs)
    report.details |= {"rubato": ours, "pytorch": theirs, "evaluations": evaluations}


def parser():
    made = measure.parser(__doc__, rounds=3, seconds=2)
    made.add_argument("--epochs", type=int, default=5)
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--smallest", type=int, default=64)
    made.add_argument("--largest", type=int, default=2048)
    return made


if __name__ == "__main__":
    sys.exit(measure.main("growing_batch", parser(), run))
