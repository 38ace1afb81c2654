"""Image data read without Rubato: what its own readers deliver is compared with this.

A set is standardised with the constants that Rubato documents for it: (x * scale - mean) /
deviation. Images are N x C x H x W.
"""

import dataclasses
import gzip
import pathlib
import struct

import h5py
import numpy

FASHION_MNIST = pathlib.Path("/usr/share/datasets/fashion-mnist")  # of dataset-fashion-mnist
TESTS_OF_COLOURED = 64
DIGITS = pathlib.Path(__file__).resolve().parents[2] / "data" / "digits.csv.gz"


@dataclasses.dataclass
class ImageSet:
    spec: str  # what --data takes
    train_images: numpy.ndarray
    train_labels: numpy.ndarray
    test_images: numpy.ndarray
    test_labels: numpy.ndarray

    def standardised(self, scale, mean, deviation):
        def apply(images):
            by = numpy.float32
            return ((images.astype(by) * by(scale) - numpy.asarray(mean, by))
                    / numpy.asarray(deviation, by))

        return dataclasses.replace(self, train_images=apply(self.train_images),
                                   test_images=apply(self.test_images))


def digits():
    return raw_digits().standardised(1 / 16, 0.30580668, 0.37644229)


def fashion_mnist():
    return read_idx_set(f"fashion-mnist:{FASHION_MNIST}", FASHION_MNIST).standardised(
        1 / 255, 0.2860, 0.3530)


def enlarged_digits(directory):
    """The digits at 28 x 28 as IDX files in `directory`; Rubato measures such a set by itself."""
    small = raw_digits()
    write_idx(directory, "train", enlarged(small.train_images), small.train_labels)
    write_idx(directory, "t10k", enlarged(small.test_images), small.test_labels)
    raw = read_idx_set(f"idx:{directory}", directory)
    pixels = raw.train_images.astype(numpy.float64) / 255
    return raw.standardised(1 / 255, pixels.mean(), pixels.std())


def coloured_digits(directory, scale=4):
    """The digits at 32 x 32 in three channels, the size of CIFAR's images, as an HDF5 file.

    Each channel has its own noise: in flat areas all pixels would be equal, and so would the values
    that ReLUs compare. Few test images, because residual networks are slow.
    """
    def coloured(images):
        blocks = numpy.kron(images * 10, numpy.ones((1, 1, scale, scale), dtype=numpy.uint8))
        channels = numpy.concatenate([blocks, 160 - blocks, numpy.roll(blocks, 5, 2)], axis=1)
        noise = numpy.random.default_rng(1).integers(0, 64, channels.shape, dtype=numpy.uint8)
        return channels + noise

    small = raw_digits()
    raw = dataclasses.replace(small, spec=f"hdf5:{directory}/digits.h5",
                              train_images=coloured(small.train_images),
                              test_images=coloured(small.test_images[:TESTS_OF_COLOURED]),
                              test_labels=small.test_labels[:TESTS_OF_COLOURED])
    with h5py.File(pathlib.Path(directory) / "digits.h5", "w") as file:
        file["train/images"], file["train/labels"] = raw.train_images, raw.train_labels
        file["test/images"], file["test/labels"] = raw.test_images, raw.test_labels
    pixels = raw.train_images.astype(numpy.float64) / 255
    return raw.standardised(1 / 255, pixels.mean((0, 2, 3), keepdims=True),
                            pixels.std((0, 2, 3), keepdims=True))


def cifar10(directory, mean, deviation):
    """Of CIFAR-10's binary version: a label, then 3 x 32 x 32 pixels, image by image."""
    def read(names):
        records = numpy.concatenate([numpy.fromfile(pathlib.Path(directory) / f"{name}.bin",
                                                    numpy.uint8).reshape(-1, 3073)
                                     for name in names])
        return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0].astype(numpy.int64)

    parts = [*read([f"data_batch_{number}" for number in range(1, 6)]), *read(["test_batch"])]
    by_channel = [numpy.reshape(numbers, (1, 3, 1, 1)) for numbers in (mean, deviation)]
    return ImageSet(f"cifar10:{directory}", *parts).standardised(1 / 255, *by_channel)


def raw_digits():
    table = numpy.loadtxt(DIGITS, delimiter=",", dtype=numpy.uint8)  # opens .gz by itself
    images, labels = table[:, :64].reshape(-1, 1, 8, 8), table[:, 64].astype(numpy.int64)
    tests = numpy.arange(len(labels)) % 5 == 4
    return ImageSet("digits", images[~tests], labels[~tests], images[tests], labels[tests])


def enlarged(images):
    """8 x 8 pixels of 0 to 16 become 24 x 24 of 0 to 240, with a border of 2."""
    blocks = numpy.kron(images * 15, numpy.ones((1, 1, 3, 3), dtype=numpy.uint8))
    return numpy.pad(blocks, ((0, 0), (0, 0), (2, 2), (2, 2)))


def read_idx_set(spec, directory):
    parts = [read_idx(directory, f"{part}-{content}") for part in ("train", "t10k")
             for content in ("images-idx3", "labels-idx1")]
    images, labels = parts[0::2], [part.astype(numpy.int64) for part in parts[1::2]]
    return ImageSet(spec, images[0][:, None], labels[0], images[1][:, None], labels[1])


def read_idx(directory, name):
    content = gzip.decompress((pathlib.Path(directory) / f"{name}-ubyte.gz").read_bytes())
    dimensions = content[3]
    shape = struct.unpack_from(f">{dimensions}I", content, 4)
    return numpy.frombuffer(content, numpy.uint8, offset=4 + 4 * dimensions).reshape(shape)


def write_idx(directory, part, images, labels):
    for content, values in (("images-idx3", images[:, 0]), ("labels-idx1", labels)):
        header = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
        (pathlib.Path(directory) / f"{part}-{content}-ubyte.gz").write_bytes(
            gzip.compress(header + values.astype(numpy.uint8).tobytes(), 1))
