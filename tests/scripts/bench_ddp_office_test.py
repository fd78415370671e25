"""scripts/bench_ddp runs both sides and leaves nothing behind."""

import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(os.environ["EGPU_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/office"))

import office  # noqa: E402

PYTHON = SOURCE / ".deps/venv/bin/python"
DATA = "/usr/share/datasets/fashion-mnist"


def missing():
    """Why it cannot run here, or None."""
    if not os.path.isdir(DATA):
        return f"no {DATA}"
    if not PYTHON.exists():
        return f"no {PYTHON.relative_to(SOURCE)}"
    probe = subprocess.run([PYTHON, "-c", "import torch, numpy"], text=True,
                           capture_output=True, timeout=300)
    if probe.returncode:
        return probe.stderr.strip().splitlines()[-1]
    return office.skip_reason()


MISSING = missing()


@unittest.skipIf(MISSING, f"bench_ddp cannot run: {MISSING}")
class BenchDdp(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def start(self, *arguments):
        bench = subprocess.Popen(
            [SOURCE / "scripts/bench_ddp", "--bin", os.environ["EGPU_BIN"],
             "--quick", *arguments], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=self.folder))
        self.addCleanup(bench.stderr.close)
        self.addCleanup(bench.stdout.close)
        self.addCleanup(bench.kill)
        return bench

    def assert_nothing_left(self, bench):
        self.assertEqual(glob.glob(self.folder + "/egpu-bench-*"), [])
        status = office.virtual_office("status", "--json")
        self.assertNotIn(f'"bench-{bench.pid}"', status.stdout)

    def test_both_sides(self):
        path = os.path.join(self.folder, "result.json")
        # Retransmissions of the short run count against the long one: 1 MB of them
        # is little only over many steps.
        bench = self.start("--rates", "10", "--codecs", "fp16", "--steps", "24",
                           "--json", path)
        output, errors = bench.communicate(timeout=300)
        self.assertEqual(bench.returncode, 0, errors)
        self.assertIn("DDP/ours", output)
        with open(path, encoding="utf-8") as file:
            (cell,) = json.load(file)["cells"]
        # 6.3 M gradients of 2 bytes; both sides start from the same weights.
        for side in cell["sides"].values():
            self.assertAlmostEqual(side["step_bytes"], 12.6e6, delta=0.4e6)
            (run,) = side["runs"]
            self.assertEqual(len(run["losses"]), 24)
        ours, ddp = (side["runs"][0]["losses"]
                     for side in cell["sides"].values())
        self.assertAlmostEqual(ours[0], ddp[0], delta=1e-4)
        self.assert_nothing_left(bench)

    def test_interrupted(self):
        bench = self.start("--rates", "0.1")
        deadline = time.monotonic() + 120
        while not glob.glob(self.folder + "/egpu-bench-*/*job.toml"):
            self.assertIsNone(bench.poll(), "ended early")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        bench.send_signal(signal.SIGINT)
        _, errors = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 130, errors)
        self.assertNotIn("Traceback", errors)
        self.assert_nothing_left(bench)


if __name__ == "__main__":
    unittest.main()
