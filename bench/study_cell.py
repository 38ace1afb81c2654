"""One cell of the published study of large batches at full model scale: ResNet-50 on CIFAR-10 with
LARS, attempt 3. Do its first losses agree with PyTorch's, and how long would the whole cell take?

usage: study_cell.py --data DIR --directory DIR [--batch 1024] [--updates 2]
                     [--precision float64] [--sides ours theirs] [--backend onednn-direct]

Both sides begin with the same weights and take the same minibatches; theirs has a LARS of its own
and computes in float64, or in float32, to see how far PyTorch's own rounding leads it away. Ours is
the more exact of oneDNN's backends unless told otherwise, as an update of this network magnifies
what is rounded a thousandfold. Images are not cropped or flipped here: each side draws its own. DIR
of --directory keeps how far each side has come, so that a long measurement can be made in pieces.
Samples/s are ours, of all updates but the first, which is computed twice; vs_pytorch.py compares
speeds.
"""

import itertools
import json
import pathlib
import subprocess
import sys

import measure
from measure import Failure, Figure
from rubato_train import ENVIRONMENT, MINIBATCH, Rubato
from same_loss import require_packages

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "peer"))

MODEL = "resnet50"
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2023, 0.1994, 0.2010)
SAMPLES, EPOCHS, BASE_BATCH, SEED = 50_000, 200, 128, 1
LARS = {"momentum": 0.9, "weight_decay": 5e-3, "trust": 0.1}
AT_MOST = 1e-3  # relative
STOPPED = 75  # the exit status of a run that can go on


def rate_of(options):
    """Through the first epoch, where the warm-up stands still."""
    return 0.05 * options.batch / BASE_BATCH


def plan_of(options):
    return ["--data", f"cifar10:{options.data}", "--batch-size", options.batch, "--minibatch",
            MINIBATCH, "--seed", SEED]


def text_of(numbers):
    return ",".join(map(str, numbers))


def train_options(options):
    k = options.batch / BASE_BATCH
    lars = [word for name, value in LARS.items()
            for word in (f"--{name.replace('_', '-')}", value)]
    return [*plan_of(options), "--data-mean", text_of(MEAN), "--data-deviation", text_of(DEVIATION),
            "--model", MODEL, "--backend", options.backend,
            "--epochs", EPOCHS, "--optimizer", "lars", "--lars-form", "study",
            *lars, "--lr", rate_of(options), "--schedule", "polynomial", "--polynomial-form",
            "study", "--warmup", 5, "--warmup-multiplier", 2, "--span", EPOCHS, "--power", 2,
            "--end-lr", 1e-5 * k]


def train_ours(options):
    """As far as is asked for, from where an earlier call has stopped."""
    if len(our_updates(options)) >= options.updates:
        return
    command = Rubato(options.build).command(
        options.ranks, *train_options(options), "--out", options.directory / "run", "--resume",
        "--stop-after-update", options.updates)
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=ENVIRONMENT, check=False)
    if done.returncode != STOPPED:
        raise Failure(f"rubato train: exit status {done.returncode}: {done.stderr.strip()}")


def our_updates(options):
    metrics = options.directory / "run" / "metrics.jsonl"
    if not metrics.exists():
        return []
    lines = map(json.loads, metrics.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line["type"] == "update"]


def train_theirs(options):
    import image_sets
    import rubato_run
    import torch
    from torch_lars import StudyLars
    from torch_twin import TorchTwin
    weights = rubato_run.tensors_of(options.directory / "run" / "checkpoints" / "ckpt-0.h5")
    images = image_sets.cifar10(options.data, MEAN, DEVIATION)
    twin = TorchTwin(MODEL, images, weights, getattr(torch, options.precision),
                     threads=measure.cores())
    optimizer = StudyLars(twin.model.parameters(), rate_of(options), **LARS)
    told = their_updates(options)
    if told:
        state = torch.load(state_file(options))
        twin.model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    for update in itertools.islice(minibatches(options), len(told), options.updates):
        told.append({"loss": twin.update(optimizer, update)})
        torch.save({"model": twin.model.state_dict(), "optimizer": optimizer.state_dict()},
                   state_file(options))
        loss_file(options).write_text(json.dumps(told), encoding="utf-8")


def state_file(options):
    return options.directory / f"{options.precision}.pt"


def loss_file(options):
    return options.directory / f"{options.precision}.json"


def their_updates(options):
    file = loss_file(options)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def minibatches(options):
    """Of each update of the first epoch."""
    from rubato_run import Update
    document = json.loads(measure.run(
        [Rubato(options.build).program, "plan", *plan_of(options), "--epochs", 1, "--ranks", 1,
         "--indices", "--format", "json"]))
    epoch = document["epochs"][0]
    for step in epoch["steps"]:
        ends = itertools.accumulate(step["sizes"], initial=step["begin"])
        yield Update(step["batch_size"],
                     [epoch["order"][begin:end] for begin, end in itertools.pairwise(ends)])


def compare(options, report):
    pairs = list(zip(our_updates(options), their_updates(options)))
    for ours, theirs in pairs:
        found = abs(ours["loss"] - theirs["loss"]) / theirs["loss"]
        report.add(Figure(f"update {ours['update']}: difference of the losses", found,
                          at_most=AT_MOST,
                          note=f"  {ours['loss']:.6f} and {theirs['loss']:.6f}"))
    updates = our_updates(options)[1:]
    if updates:
        speed = options.batch * len(updates) / sum(update["seconds"] for update in updates)
        report.add(Figure("training speed", speed, "samples/s"))
        report.add(Figure(f"predicted time of {EPOCHS} epochs", EPOCHS * SAMPLES / speed / 3600,
                          "h"))


def run(options, report):
    require_packages()
    if options.batch * options.updates > SAMPLES:
        raise Failure("--updates: the comparison ends with the first epoch")
    options.directory.mkdir(parents=True, exist_ok=True)
    if "ours" in options.sides:
        train_ours(options)
    if "theirs" in options.sides:
        train_theirs(options)
    compare(options, report)


def parser():
    made = measure.parser(__doc__)
    made.add_argument("--data", type=pathlib.Path, required=True,
                      help="CIFAR-10's binary version")
    made.add_argument("--directory", type=pathlib.Path, required=True)
    made.add_argument("--batch", type=int, default=1024)
    made.add_argument("--updates", type=int, default=2)
    made.add_argument("--precision", choices=("float32", "float64"), default="float64")
    made.add_argument("--ranks", type=int, default=2)
    made.add_argument("--backend", default="onednn-direct", help="as of rubato train")
    made.add_argument("--sides", nargs="+", choices=("ours", "theirs"), default=("ours", "theirs"))
    return made


if __name__ == "__main__":
    sys.exit(measure.main("study_cell", parser(), run))
