"""egpurun JOB.toml across the PCs of a virtual office: real ssh, real mpirun."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

SOURCE = pathlib.Path(os.environ["EGPU_SOURCE"])
sys.path[:0] = [str(SOURCE / "tests/office"), str(SOURCE / "tests/runtime/training")]
from jobs import SMALL, JobFolder, steps_of  # noqa: E402
from office import Office, skip_reason, wait_until  # noqa: E402

EGPURUN = str(pathlib.Path(os.environ["EGPU_BIN"]) / "egpurun")
ENDLESS = {"train": {"epochs": 1000000, "max_steps": 0}}


def setUpModule():
    if reason := skip_reason():
        raise unittest.SkipTest(reason)


class TwoPcs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.office = Office(pcs={"pc1": {}, "pc2": {}}, network_gbit=1.0)
        cls.addClassCleanup(cls.office.close)
        cls.office.up()

    def setUp(self):
        self.folder = self.enterContext(JobFolder())

    def job(self, *parts, hosts=("pc1", "pc2")):
        return self.folder.write(
            SMALL,
            {"hosts": {"list": list(hosts)}, "report": {"folder": str(self.folder / "records")}},
            *parts,
        )

    def egpurun(self, *words, **options):
        return self.office.exec("pc1", EGPURUN, *map(str, words), **options)

    def running(self, pc, program):
        """Pids, in the PC's own numbers, of a program there."""
        first_words = {pid: command.split()[0] for pid, command in self.office.pids(pc).items()}
        return [pid for pid, word in first_words.items() if os.path.basename(word) == program]

    def ranks(self, pc):
        return self.running(pc, "egpu-train")

    def nothing_left(self):
        return not self.office.pids("pc1") and not self.office.pids("pc2")

    def assert_nothing_left(self):
        if not wait_until(self.nothing_left, patience=5):
            self.fail(f"left: {self.office.pids('pc1')} {self.office.pids('pc2')}")

    def start_training(self):
        """An endless job that has begun to train; its egpurun."""
        job = self.job(ENDLESS)
        process = self.office.popen(
            "pc1", EGPURUN, str(job), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        records = self.folder / "records" / "rank-0000.jsonl"
        started = wait_until(lambda: records.exists() and records.read_text().count('"step"') > 20)
        self.assertTrue(started, "the job did not begin to train")
        return process

    def test_two_pcs_train_and_every_rank_reports(self):
        result = self.egpurun(self.job(hosts=("pc1:2", "pc2:2")))
        self.assertEqual(result.returncode, 0, result.stderr)
        curves = [[s["loss"] for s in steps_of(self.folder / "records", r)] for r in range(4)]
        self.assertEqual(len(curves[0]), 60)
        self.assertTrue(all(curve == curves[0] for curve in curves))
        first_lines = [
            json.loads((self.folder / "records" / f"rank-{r:04}.jsonl").read_text().splitlines()[0])
            for r in range(4)
        ]
        self.assertEqual([line["host"] for line in first_lines], ["pc1", "pc1", "pc2", "pc2"])
        self.assert_nothing_left()

    def test_kill_9_of_one_rank_ends_the_job_with_137_within_10_s(self):
        for pc in ("pc2", "pc1"):
            with self.subTest(pc=pc):
                process = self.start_training()
                (rank,) = self.ranks(pc)
                self.office.exec(pc, "kill", "-9", str(rank), check=True)
                self.assertEqual(process.wait(timeout=10), 128 + signal.SIGKILL)
                self.assert_nothing_left()
                shutil.rmtree(self.folder / "records")

    def test_interrupt_ends_every_rank(self):
        process = self.start_training()
        (egpurun,) = self.running("pc1", "mpirun")  # egpurun has become mpirun
        self.office.exec("pc1", "kill", "-INT", str(egpurun), check=True)
        self.assertNotEqual(process.wait(timeout=10), 0)
        self.assert_nothing_left()

    def test_kill_9_of_egpurun_leaves_no_rank(self):
        process = self.start_training()
        (egpurun,) = self.running("pc1", "mpirun")  # egpurun has become mpirun
        self.office.exec("pc1", "kill", "-9", str(egpurun), check=True)
        self.assertNotEqual(process.wait(timeout=10), 0)
        self.assertTrue(wait_until(lambda: not self.ranks("pc1") and not self.ranks("pc2"), patience=10))
        self.assert_nothing_left()

    def test_data_missing_on_one_pc_names_that_pc(self):
        # Each PC has a /dev/shm of its own.
        source = pathlib.Path("/usr/share/datasets/fashion-mnist")
        if not source.exists():
            self.skipTest(f"{source} is not there")
        self.office.exec("pc1", "cp", "-r", str(source), "/dev/shm/data", check=True)
        self.addCleanup(self.office.exec, "pc1", "rm", "-r", "/dev/shm/data")
        data = {"name": "fashion-mnist", "folder": "/dev/shm/data", "train_samples": 1000}
        result = self.egpurun(self.job({"data": data}))
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("host pc2, rank 1, /dev/shm/data", result.stderr)
        self.assert_nothing_left()

    def test_host_that_cannot_be_reached(self):
        self.office.cut("pc2")
        self.addCleanup(self.office.plug, "pc2")
        result = self.egpurun(self.job())
        self.assertEqual(result.returncode, 3, result.stderr)
        for part in ("pc2 (10.", " port 22): ", "\n  found: ", "\n  to do: "):
            self.assertIn(part, result.stderr)
        self.assertTrue(wait_until(lambda: not self.office.pids("pc1"), patience=5))

    def test_host_without_a_name(self):
        result = self.egpurun(self.job(hosts=("pc1", "pc9")))
        self.assertEqual(result.returncode, 3, result.stderr)
        for part in ("pc9", "\n  found: ", "\n  to do: "):
            self.assertIn(part, result.stderr)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main()
