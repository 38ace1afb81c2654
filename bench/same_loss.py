"""Do Rubato and PyTorch compute the same? One minibatch, the same weights, both losses.

usage: same_loss.py [--build build/bench] [--models MODEL ...]

Ours is the loss of the first update of `rubato train` on a data set of one minibatch, so that the
order of its samples does not show; the weights that it began with are in the checkpoint of update
0. Theirs is the model that pytorch_ddp.py times, in the form in which it times it. Dropout is off:
each side draws its own.
"""

import importlib.util
import json
import pathlib
import sys
import tempfile

import measure
from measure import Failure, Figure, Missing
from rubato_train import ENVIRONMENT, MINIBATCH, MODELS, Rubato, image_of

AT_MOST = 1e-5  # relative
WITHOUT_DROPOUT = {"mnist-tutorial": "mnist-tutorial:dropout=0"}


def require_packages():
    for module in ("torch", "h5py", "numpy"):
        if importlib.util.find_spec(module) is None:
            raise Missing(f"on Debian: apt-get install python3-{module}")


def made_up_images(shape):
    import numpy
    random = numpy.random.default_rng(1)
    return (random.integers(0, 256, (MINIBATCH, *shape), dtype=numpy.uint8),
            random.integers(0, 10, MINIBATCH, dtype=numpy.uint8))


def write_images(file, images, labels):
    import h5py
    with h5py.File(file, "w") as data:
        for part in ("train", "test"):
            data[f"{part}/images"], data[f"{part}/labels"] = images, labels


def our_loss(rubato, model, data, directory):
    """And the weights before the update."""
    import h5py
    measure.run(rubato.command(1, "--data", f"hdf5:{data}", "--model", model, "--batch-size",
                               MINIBATCH, "--updates", 1, "--out", directory), ENVIRONMENT)
    lines = (directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    loss, = (line["loss"] for line in map(json.loads, lines) if line["type"] == "update")
    with h5py.File(directory / "checkpoints" / "ckpt-0.h5", "r") as checkpoint:
        return loss, {name: tensor[()] for name, tensor in checkpoint["model"].items()}


def their_loss(model, images, labels, weights):
    import pytorch_ddp
    import torch
    pixels = images.astype("float64") / 255
    by_channel = {"axis": (0, 2, 3), "keepdims": True}
    inputs = (pixels - pixels.mean(**by_channel)) / pixels.std(**by_channel)
    network = pytorch_ddp.make(model, images.shape[1:])
    state = {name: torch.from_numpy(values) for name, values in weights.items()}
    missing, unexpected = network.load_state_dict(state, strict=False)
    if unexpected or any(not name.endswith("num_batches_tracked") for name in missing):
        raise Failure(f"{model}: PyTorch's model has other tensors: {missing}, {unexpected}")
    return float(pytorch_ddp.loss_of(network, pytorch_ddp.channels_last(torch.from_numpy(
        inputs.astype("float32"))), torch.from_numpy(labels.astype("int64"))))


def difference(rubato, model):
    """Of the two losses, relative to the larger. Throws Failure if they are not the same."""
    require_packages()
    model = WITHOUT_DROPOUT.get(model, model)
    images, labels = made_up_images(image_of(model))
    with tempfile.TemporaryDirectory() as directory:
        data = pathlib.Path(directory, "images.h5")
        write_images(data, images, labels)
        ours, weights = our_loss(rubato, model, data, pathlib.Path(directory, "run"))
    theirs = their_loss(model, images, labels, weights)
    found = abs(ours - theirs) / max(ours, theirs)
    if not found <= AT_MOST:
        raise Failure(f"{model}: the same minibatch and weights give a loss of {ours:.8f} here and "
                      f"{theirs:.8f} in PyTorch: speeds of different models are not compared")
    return found


def run(options, report):
    rubato = Rubato(options.build)
    for model in options.models:
        report.add(Figure(f"{model}: difference of the losses", difference(rubato, model),
                          at_most=AT_MOST))


def parser():
    return measure.parser(__doc__, models=MODELS)


if __name__ == "__main__":
    sys.exit(measure.main("same_loss", parser(), run))
