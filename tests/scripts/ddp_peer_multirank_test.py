"""scripts/ddp_peer.py trains as one process alone and as egpu-train does."""

import gzip
import json
import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["EGPU_SOURCE"])
PYTHON = SOURCE / ".deps/venv/bin/python"
PEER = SOURCE / "scripts/ddp_peer.py"
TRAIN = pathlib.Path(os.environ["EGPU_BIN"]) / "egpu-train"
SAMPLES, BATCH, STEPS = 96, 12, 8

JOB = """
[model]
name = "{model}"
hidden_units = 32
hidden_layers = 2
[data]
folder = "{data}"
image_size = 32
[train]
batch_size = 12
learning_rate = 0.05
momentum = 0.9
threads = 1
device = "cpu"
[report]
folder = "{report}"
"""


def torch_missing():
    """Why the peer cannot run here, or None."""
    if not PYTHON.exists():
        return f"no {PYTHON.relative_to(SOURCE)}"
    probe = subprocess.run([PYTHON, "-c", "import torch, numpy"], text=True,
                           capture_output=True, timeout=300)
    return probe.stderr.strip().splitlines()[-1] if probe.returncode else None


MISSING = torch_missing()


def write_idx(path, sizes, values):
    with gzip.open(path, "wb") as file:
        file.write(bytes([0, 0, 8, len(sizes)]))
        file.write(struct.pack(f">{len(sizes)}I", *sizes) + bytes(values))


def write_safetensors(path, shapes, numbers):
    header, data = {}, b""
    for name, shape in shapes.items():
        count = 1
        for size in shape:
            count *= size
        values = struct.pack(f"<{count}f", *(numbers.uniform(-0.1, 0.1)
                                             for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape,
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipIf(MISSING, f"torch for Python is missing: {MISSING}")
class DdpPeer(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        numbers = random.Random(5)
        for prefix in ("train", "t10k"):
            write_idx(self.root / f"{prefix}-images-idx3-ubyte.gz",
                      (SAMPLES, 28, 28), numbers.randbytes(SAMPLES * 784))
            write_idx(self.root / f"{prefix}-labels-idx1-ubyte.gz", (SAMPLES,),
                      (numbers.randrange(10) for _ in range(SAMPLES)))
        order = list(range(SAMPLES))
        numbers.shuffle(order)
        (self.root / "order.i32").write_bytes(
            struct.pack(f"<{SAMPLES}i", *order))
        write_safetensors(
            self.root / "start.safetensors",
            {"hidden1.weight": [32, 1024], "hidden1.bias": [32],
             "hidden2.weight": [32, 32], "hidden2.bias": [32],
             "output.weight": [10, 32], "output.bias": [10]}, numbers)
        self.config = {
            "model": "mlp", "hidden_units": 32, "hidden_layers": 2,
            "image_size": 32, "data_folder": str(self.root),
            "weights": str(self.root / "start.safetensors"),
            "order": str(self.root / "order.i32"), "batch_size": BATCH,
            "output": str(self.root / "result.json")}

    def start(self, config, rank, world_size, port):
        path = self.root / "config.json"
        path.write_text(json.dumps(config))
        environment = dict(
            os.environ, RANK=str(rank), WORLD_SIZE=str(world_size),
            LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port))
        peer = subprocess.Popen([PYTHON, PEER, path], env=environment,
                                text=True, stderr=subprocess.PIPE)
        self.addCleanup(peer.stderr.close)
        self.addCleanup(peer.kill)
        return peer

    def train(self, world_size, **changes):
        config = dict(self.config, **changes)
        port = free_port()
        ranks = [self.start(config, rank, world_size, port)
                 for rank in range(world_size)]
        for rank in ranks:
            _, errors = rank.communicate(timeout=300)
            self.assertEqual(rank.returncode, 0, errors)
        return json.loads((self.root / "result.json").read_text())

    def assert_losses_near(self, losses, expected):
        self.assertEqual(len(losses), len(expected))
        for loss, right in zip(losses, expected):
            self.assertAlmostEqual(loss, right, delta=2e-4)

    def test_two_ranks_train_as_one(self):
        alone = self.train(1)
        both = self.train(2)
        losses = [step["loss"] for step in alone["steps"]]
        self.assertEqual(len(losses), STEPS)
        self.assert_losses_near([step["loss"] for step in both["steps"]],
                                losses)
        self.assertEqual(both["interfaces"], ["lo", "lo"])
        # Each rank sends its gradients at least once: 4 bytes each.
        gradients = 4 * both["parameters"]
        sent = both["summary"]["sent_bytes_per_step"]
        self.assertGreater(sent, 2 * gradients)
        self.assertLess(sent, 4 * gradients)
        half = self.train(2, codec="fp16", steps=6)
        self.assertEqual(len(half["steps"]), 6)
        self.assertLess(half["summary"]["sent_bytes_per_step"], 0.7 * sent)

    def test_trains_as_egpu_train(self):
        if not TRAIN.exists():
            self.skipTest(f"no {TRAIN.name} in {TRAIN.parent}")
        for model in ("mlp", "cnn"):
            report = self.root / f"report-{model}"
            job = self.root / "job.toml"
            job.write_text(JOB.format(model=model, data=self.root,
                                      report=report))
            for arguments in (("--export-start", self.root / model), ()):
                subprocess.run([TRAIN, *arguments, job], check=True,
                               timeout=300, stdout=subprocess.DEVNULL)
            lines = (report / "rank-0000.jsonl").read_text().splitlines()
            records = [json.loads(line) for line in lines]
            expected = [record["loss"] for record in records
                        if record["type"] == "step"]
            order = self.root / model / "order.i32"
            weights = self.root / model / "start.safetensors"
            steps = STEPS * 2  # the default of two epochs
            self.assertEqual(order.stat().st_size, 4 * BATCH * steps)
            peer = self.train(2, model=model, order=str(order),
                              weights=str(weights))
            self.assert_losses_near([step["loss"] for step in peer["steps"]],
                                    expected)

    def test_bad_input(self):
        bad = (({"codec": "zip"}, "none or fp16"),
               ({"modle": "mlp"}, "unknown key 'modle'"),
               ({"batch_size": 7}, "96 numbers for batches of 7"),
               ({"batch_size": 0}, "batch_size = 0"),
               ({"steps": 9}, "cannot train 9 steps"),
               ({"hidden_units": 31}, "hidden1.weight: (32, 1024)"),
               ({"image_size": 27}, "give a larger image_size"),
               ({"weights": str(self.root / "order.i32")}, "weights"),
               ({"data_folder": "/nowhere"}, "set data_folder"),
               ({"learning_rate": "fast"}, "type float"))
        for changes, part in bad:
            rank = self.start(dict(self.config, **changes), 0, 1, 1)
            _, errors = rank.communicate(timeout=300)
            self.assertEqual(rank.returncode, 2, errors)
            self.assertIn(part, errors)
            self.assertRegex(errors, re.compile(
                r"^ddp_peer: .*\n  found: .*\n  to do: .*\n$"))


if __name__ == "__main__":
    unittest.main()
