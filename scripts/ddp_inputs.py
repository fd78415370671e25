"""What ddp_peer.py reads: its configuration, data, order and weights."""

import gzip
import json
import os
import struct

import numpy
import torch

# Key, default (None = must be given), meaning.
SETTINGS = (
    ("model", "mlp", "mlp or cnn"),
    ("hidden_units", 1024, "mlp"),
    ("hidden_layers", 6, "mlp"),
    ("image_size", 32, "pixels; larger than the images pads with zeros"),
    ("data_folder", "/usr/share/datasets/fashion-mnist", "IDX .gz files"),
    ("weights", None, "safetensors file with the first weights"),
    ("order", None, "int32 [steps, batch_size], sample of each step"),
    ("batch_size", 64, "over all ranks"),
    ("steps", 0, "0 = as many as the order file has"),
    ("learning_rate", 0.05, "constant"),
    ("momentum", 0.9, ""),
    ("weight_decay", 0.0, ""),
    ("seed", 1, "torch's generators"),
    ("codec", "none", "none or fp16 (torch's fp16_compress_hook)"),
    ("bucket_cap_mb", 25.0, "DDP's default is 25"),
    ("warmup_steps", 5, "left out of the summary"),
    ("interface", "", "network interface; empty = the way to MASTER_ADDR"),
    ("output", None, "result file, written by rank 0"),
)

class PeerError(Exception):
    """Asked, found and advice, like egpurun's errors."""


def read_config(path):
    asked = f"cannot read the configuration {path}"
    try:
        with open(path, encoding="utf-8") as file:
            given = json.load(file)
    except (OSError, ValueError) as error:
        raise PeerError(asked, str(error), "give a JSON file") from error
    if not isinstance(given, dict):
        raise PeerError(asked, "no JSON object", "write one object")
    names = [name for name, _, _ in SETTINGS]
    for name in given:
        if name not in names:
            raise PeerError(asked, f"unknown key '{name}'",
                            "keys: " + ", ".join(names))
    config = {}
    for name, default, _ in SETTINGS:
        value = given.get(name, default)
        if value is None:
            raise PeerError(asked, f"no key '{name}'", "add it")
        if isinstance(default, float) and type(value) is int:
            value = float(value)
        expected = str if default is None else type(default)
        if type(value) is not expected:
            raise PeerError(asked, f"{name} = {value!r}",
                            f"give a value of type {expected.__name__}")
        config[name] = value
        if type(value) is int and value < (name == "batch_size"):
            raise PeerError(asked, f"{name} = {value}", "give a larger number")
    return config


def row_named(table, key, name):
    if name not in table:
        raise PeerError(f"cannot use {key}", f"\"{name}\"",
                        "write " + " or ".join(table))
    return table[name]


def read_idx(path):
    """uint8 array of a gzipped IDX file (sizes big-endian)."""
    try:
        with gzip.open(path) as file:
            raw = file.read()
        if raw[:3] != b"\0\0\x08":
            raise ValueError("no IDX file of bytes")
        sizes = struct.unpack_from(f">{raw[3]}I", raw, 4)
        values = numpy.frombuffer(raw, numpy.uint8, offset=4 + 4 * raw[3])
        return values.reshape(sizes)
    except (OSError, EOFError, ValueError, IndexError,
            struct.error) as error:
        raise PeerError(f"cannot read the data file {path}", str(error),
                        "set data_folder to the data set's files") from error


def read_order(path, batch_size):
    try:
        flat = numpy.fromfile(path, dtype="<i4")
    except OSError as error:
        raise PeerError("cannot read the order of samples", str(error),
                        "make it: egpu-train --export-start") from error
    if flat.size == 0 or flat.size % batch_size != 0:
        raise PeerError(
            f"cannot use the order of samples {path}",
            f"{flat.size} numbers for batches of {batch_size}",
            "give the batch_size it was made for")
    return flat.reshape(-1, batch_size).astype(numpy.int64)


def read_safetensors(path):
    """{name: float32 tensor}: 8 bytes length, JSON header, then the data."""
    try:
        with open(path, "rb") as file:
            raw = file.read()
        (length,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8:8 + length])
        header.pop("__metadata__", None)
        tensors = {}
        for name, entry in header.items():
            if entry["dtype"] == "F32":
                begin, end = entry["data_offsets"]
                data = raw[8 + length + begin:8 + length + end]
                values = numpy.frombuffer(data, "<f4").reshape(entry["shape"])
                tensors[name] = torch.from_numpy(values.copy())
        return tensors
    except (OSError, ValueError, KeyError, TypeError, AttributeError,
            struct.error) as error:
        raise PeerError(f"cannot read the weights {path}", str(error),
                        "make them: egpu-train --export-start") from error


class Images:
    """Batches as runtime/data/batch.cpp makes them, same float32 values."""

    def __init__(self, folder, image_size):
        prefix = os.path.join(folder, "train-")
        self.pixels = read_idx(prefix + "images-idx3-ubyte.gz")
        self.labels = read_idx(prefix + "labels-idx1-ubyte.gz")
        self.image_size = image_size
        height, width = self.pixels.shape[1:]
        if image_size < max(height, width):
            raise PeerError(f"cannot use image_size = {image_size}",
                            f"images of {height} x {width} pixels",
                            "give a larger image_size")
        self.top = (image_size - height) // 2
        self.left = (image_size - width) // 2
        levels = numpy.arange(256, dtype=numpy.float32)
        self.values = ((levels / numpy.float32(255) - numpy.float32(0.2860))
                       / numpy.float32(0.3530))

    def batch(self, indices):
        size = self.image_size
        height, width = self.pixels.shape[1:]
        images = numpy.zeros((len(indices), 1, size, size), numpy.float32)
        images[:, 0, self.top:self.top + height,
               self.left:self.left + width] = self.values[self.pixels[indices]]
        labels = self.labels[indices].astype(numpy.int64)
        return torch.from_numpy(images), torch.from_numpy(labels)
