"""Files that no reader may accept, for the tests of every command that reads them."""

import gzip
import struct

# text of a trace, words of the complaint about a file t.csv
TRACES = (
    ("", ["t.csv", "empty", "batchsize"]),
    ("just some words\n", ["t.csv:1", "batchsize"]),
    ("step,batch\n0,32\n", ["t.csv:1", "batchsize"]),
    ("step,batchsize\n", ["t.csv", "no row"]),
    ("step,batchsize\n0,0\n", ["t.csv:2", '"0"', "at least 1"]),
    ("step,batchsize\n0,-32\n", ["t.csv:2", '"-32"']),
    ("step,batchsize\n0,32\n1,32.5\n", ["t.csv:3", '"32.5"', "whole number"]),
    ("step,batchsize\n0,99999999999999999999\n", ["t.csv:2", "at most"]),
    ("step,batchsize\n0,\n", ["t.csv:2", "nothing"]),
    ("step,batchsize\n0,32\n\n1,32\n", ["t.csv:3", "empty"]),
    ("step,batchsize\n0,32,5\n", ["t.csv:2", "3 fields", "2"]),
)

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
SAMPLES, SIDE = 40, 4
CIFAR_BATCHES = [f"data_batch_{number}.bin" for number in range(1, 6)] + ["test_batch.bin"]
CIFAR_RECORD = 1 + 3 * 32 * 32


def images(*sizes, magic=0x0803, content=bytes(SAMPLES * SIDE * SIDE)):
    return struct.pack(">IIII", magic, *(sizes or (SAMPLES, SIDE, SIDE))) + content


def labels(count=SAMPLES):
    return struct.pack(">II", 0x0801, count) + bytes(index % 10 for index in range(count))


def idx_sets():
    """Name, files and words of the complaint, for each bad set."""
    good = {IMAGES: images(), LABELS: labels()}
    most = 2**32 - 1
    bomb = gzip.compress(images(content=bytes(100_000_000)))
    return (
        ("magic", {**good, IMAGES: b"\x01\x02" + images()[2:]}, [IMAGES, "not an IDX file"]),
        ("type", {**good, IMAGES: images(magic=0x0D03)}, [IMAGES, "type 0x0d", "0x08"]),
        ("truncated", {**good, IMAGES: images()[:-1]}, [IMAGES, "ends after", "1 more"]),
        ("overflow", {**good, IMAGES: images(most, most, most)}, [IMAGES, "exceeds 64 bits"]),
        ("promise", {**good, IMAGES: images(most, 60000, 1)}, [IMAGES, "promises", "at most"]),
        ("unequal", {**good, LABELS: labels(SAMPLES - 1)}, [LABELS, "found 39", "expected 40"]),
        ("no-labels", {IMAGES: images()}, [LABELS, "not found"]),
        ("bomb", {f"{IMAGES}.gz": bomb, LABELS: labels()}, [f"{IMAGES}.gz", "more bytes"]),
    )


def cifar_set(length_of_test_batch):
    return {name: bytes(length_of_test_batch if name == "test_batch.bin" else 8 * CIFAR_RECORD)
            for name in CIFAR_BATCHES}
