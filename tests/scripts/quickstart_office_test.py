"""scripts/quickstart as a newcomer runs it, and with Ctrl-C in the middle."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["EGPU_SOURCE"])
QUICKSTART = str(SOURCE / "scripts" / "quickstart")
DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
sys.path.insert(0, str(SOURCE / "tests/office"))
from office import processes_in, skip_reason, wait_until  # noqa: E402


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)
    if pathlib.Path(os.environ["EGPU_BIN"]) != SOURCE / "build/release/bin":
        raise unittest.SkipTest("quickstart runs build/release, these tests another build")
    if not DATA.exists():
        raise unittest.SkipTest(f"{DATA} is not there")


def start():
    # A session of its own: a terminal's Ctrl-C reaches the whole foreground group.
    return subprocess.Popen(
        [QUICKSTART], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def offices():
    root = pathlib.Path("/run/egpu-offices")
    return {path.name for path in root.iterdir()} if root.exists() else set()


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.before = (offices(), set(os.listdir("/dev/shm")))
        self.processes = processes_in(None)

    def assert_nothing_left(self):
        self.assertEqual((offices(), set(os.listdir("/dev/shm"))), self.before)
        left = lambda: {  # noqa: E731
            (pid, begun) for pid, begun in processes_in(None) - self.processes
            if b"egpu" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        }
        self.assertTrue(wait_until(lambda: not left(), patience=5), left())

    def test_trains_to_88_percent_and_removes_the_office(self):
        process = start()
        output, _ = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, output)
        accuracies = [float(x) for x in re.findall(r"test accuracy ([0-9.]+) %", output)]
        self.assertGreaterEqual(accuracies[-1], 88.0, output)
        self.assertIn("2 ranks on 2 PCs", output)
        self.assertRegex(output, r"epoch 2  step \d+/\d+  loss [0-9.]+ ")
        self.assertIn("busbw [GB/s]", output)
        self.assert_nothing_left()

    def test_interrupt_while_training_leaves_nothing(self):
        process = start()
        for line in process.stdout:
            if line.startswith("epoch 1  step"):
                break
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
