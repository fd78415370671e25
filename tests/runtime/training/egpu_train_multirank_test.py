"""egpu-train under the real mpirun: same training for any world size, resume."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from jobs import SMALL, TRAIN, JobFolder, merged, mpirun, steps_of  # noqa: E402


def checkpoints(folder):
    return sorted(pathlib.Path(folder).glob("step-*.safetensors"))


class WorldSizes(unittest.TestCase):
    def test_losses_agree_with_one_rank_also_with_uneven_last_batches(self):
        curves = {}
        for ranks in (1, 2, 3, 4):
            with JobFolder() as folder:
                job = folder.write(
                    SMALL,
                    {"model": {"dropout": 0.0}, "report": {"folder": str(folder / "records")}},
                )
                result = mpirun(ranks, TRAIN, job)
                self.assertEqual(result.returncode, 0, result.stderr)
                per_rank = [steps_of(folder / "records", rank) for rank in range(ranks)]
                for step in zip(*per_rank):
                    self.assertEqual({record["loss"] for record in step}, {step[0]["loss"]})
                    samples = sum(record["samples"] for record in step)
                    self.assertEqual(samples, step[0]["global_samples"])
                curves[ranks] = [record["loss"] for record in per_rank[0]]
        self.assertEqual(len(curves[1]), 60)
        self.assertLess(curves[1][-1], curves[1][0] / 2)
        for ranks in (2, 3, 4):
            for one, many in zip(curves[1], curves[ranks], strict=True):
                self.assertAlmostEqual(one, many, delta=2e-4)


class Resume(unittest.TestCase):
    RANKS = 2

    def job(self, folder, name, **keys):
        settings = {"folder": str(folder / name), "every_steps": 7, "every_epochs": 0, "keep": 50}
        return folder.write(
            merged(SMALL, {"train": {"optimizer": "adamw", "learning_rate": 0.002}}),
            {"checkpoint": {**settings, **keys}, "report": {"folder": str(folder / (name + "-records"))}},
            name=name + ".toml",
        )

    def test_killed_and_resumed_equals_uninterrupted_bit_for_bit(self):
        with JobFolder() as folder:
            result = mpirun(self.RANKS, TRAIN, self.job(folder, "whole"))
            self.assertEqual(result.returncode, 0, result.stderr)

            job = self.job(folder, "broken")
            words = ["mpirun", "-np", str(self.RANKS), "--oversubscribe", TRAIN, str(job)]
            killed = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                deadline = time.monotonic() + 120
                while len(checkpoints(folder / "broken")) < 3:
                    self.assertIsNone(killed.poll(), "ended before it could be killed")
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.002)
                # kill -9 of one rank: its pid is in the lock of the checkpoint folder.
                holder = (folder / "broken" / "lock").read_text()
                rank_pid = int("".join(filter(str.isdigit, holder.split("process")[-1].split()[0])))
                os.kill(rank_pid, signal.SIGKILL)
                self.assertEqual(killed.wait(timeout=30), 128 + signal.SIGKILL)
            finally:
                if killed.poll() is None:
                    killed.kill()
                    killed.wait()
            self.assertLess(len(checkpoints(folder / "broken")), 9)

            result = mpirun(self.RANKS, TRAIN, job)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("resumed after step", result.stdout)
            whole, broken = checkpoints(folder / "whole"), checkpoints(folder / "broken")
            self.assertEqual([file.name for file in whole], [file.name for file in broken])
            for ours, theirs in zip(whole, broken):
                self.assertEqual(ours.read_bytes(), theirs.read_bytes(), ours.name)

    def test_finished_job_has_nothing_left_to_do(self):
        with JobFolder() as folder:
            job = self.job(folder, "done")
            self.assertEqual(mpirun(self.RANKS, TRAIN, job).returncode, 0)
            again = mpirun(self.RANKS, TRAIN, job)
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertIn("nothing to train: step 60 of 60 is done", again.stdout)


if __name__ == "__main__":
    unittest.main()
