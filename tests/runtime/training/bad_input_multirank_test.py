"""Bad input of egpu-train: three-part error, exit status, nothing left behind."""
import gzip
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from jobs import SMALL, TRAIN, JobFolder, mpirun  # noqa: E402


def write_idx(path, shape, values):
    header = struct.pack(f">BBBB{len(shape)}I", 0, 0, 8, len(shape), *shape)
    path.write_bytes(gzip.compress(header + values))


def write_fashion_mnist(folder, count=200):
    folder.mkdir()
    for part in ("train", "t10k"):
        write_idx(folder / f"{part}-images-idx3-ubyte.gz", (count, 28, 28), bytes(count * 784))
        write_idx(folder / f"{part}-labels-idx1-ubyte.gz", (count,), bytes(i % 10 for i in range(count)))


class BadInput(unittest.TestCase):
    def refused(self, result, status, *parts):
        text = result.stderr
        self.assertEqual(result.returncode, status, text + result.stdout)
        self.assertEqual(text.count("\n  found: "), 1, text)
        self.assertEqual(text.count("\n  to do: "), 1, text)
        for part in parts:
            self.assertIn(part, text)

    def run_job(self, *parts, ranks=2, prepare=None):
        with JobFolder() as folder:
            if prepare:
                prepare(folder)
            job = folder.write(SMALL, *parts)
            return mpirun(ranks, TRAIN, job)

    def test_missing_job_file(self):
        self.refused(mpirun(2, TRAIN, "/nowhere/job.toml"), 2, "/nowhere/job.toml")

    def test_unknown_key_names_the_nearest(self):
        result = self.run_job({"train": {"batchsize": 3}})
        self.refused(result, 2, "batchsize", "batch_size", "job.toml:")

    def test_wrong_type(self):
        self.refused(self.run_job({"train": {"epochs": "three"}}), 2, "epochs", "job.toml:")

    def test_batch_smaller_than_world_size(self):
        self.refused(self.run_job({"train": {"batch_size": 3}}, ranks=4), 2, "3", "4")

    def test_unknown_names_of_tables(self):
        for section, key in (("model", "name"), ("data", "name"), ("gradients", "codec"),
                             ("train", "optimizer"), ("train", "schedule")):
            with self.subTest(key=f"{section}.{key}"):
                self.refused(self.run_job({section: {key: "nonesuch"}}), 2, "nonesuch")

    def test_missing_data_names_file_and_host(self):
        with JobFolder() as folder:
            job = folder.write(SMALL, {"data": {"name": "fashion-mnist", "folder": str(folder / "no")}})
            result = mpirun(2, TRAIN, job)
            self.refused(result, result.returncode, str(folder / "no"), "host ", "also failed")
            self.assertNotEqual(result.returncode, 0)

    def test_truncated_data(self):
        with JobFolder() as folder:
            write_fashion_mnist(folder / "data")
            images = folder / "data" / "train-images-idx3-ubyte.gz"
            images.write_bytes(images.read_bytes()[:-20])
            job = folder.write(SMALL, {"data": {"name": "fashion-mnist", "folder": str(folder / "data"),
                                                "train_samples": 0, "test_samples": 0}})
            result = mpirun(2, TRAIN, job)
            self.refused(result, result.returncode, str(images))
            self.assertNotEqual(result.returncode, 0)

    def saved_job(self, folder, *parts):
        return folder.write(SMALL, {"train": {"max_steps": 5},
                                    "checkpoint": {"folder": str(folder / "saved")}}, *parts)

    def test_checkpoint_of_another_model(self):
        with JobFolder() as folder:
            self.assertEqual(mpirun(2, TRAIN, self.saved_job(folder)).returncode, 0)
            before = sorted((folder / "saved").iterdir())
            result = mpirun(2, TRAIN, self.saved_job(folder, {"model": {"hidden_units": 48}}))
            self.refused(result, 2, "2 x 32", "2 x 48", "step-0000000005.safetensors")
            self.assertEqual(sorted((folder / "saved").iterdir()), before)

    def test_checkpoint_of_a_newer_version(self):
        with JobFolder() as folder:
            job = self.saved_job(folder)
            self.assertEqual(mpirun(2, TRAIN, job).returncode, 0)
            file = folder / "saved" / "step-0000000005.safetensors"
            data = file.read_bytes()
            old, new = b'"format_version":"1"', b'"format_version":"9"'
            self.assertEqual(data.count(old), 1)
            newer = data[:-4].replace(old, new)  # the last four bytes are the checksum
            file.write_bytes(newer + struct.pack("<I", zlib.crc32(newer)))
            result = mpirun(2, TRAIN, job)
            self.refused(result, 2, "newer", str(file))

    def test_diverged_run_keeps_the_good_checkpoints(self):
        with JobFolder() as folder:
            job = self.saved_job(folder, {"train": {"max_steps": 60, "learning_rate": 1e12},
                                          "checkpoint": {"every_steps": 1, "keep": 50}})
            result = mpirun(2, TRAIN, job)
            self.refused(result, 1, "the loss became", "learning_rate")
            stop = int(result.stderr.split("train step ")[1].split("\n")[0])
            steps = sorted(path.name for path in (folder / "saved").glob("step-*"))
            self.assertEqual(len(steps), stop)

    def test_required_checkpoint_is_not_there(self):
        with JobFolder() as folder:
            job = self.saved_job(folder, {"checkpoint": {"resume": "require"}})
            self.refused(mpirun(2, TRAIN, job), 2, str(folder / "saved"))

    def test_two_jobs_writing_the_same_checkpoint_folder(self):
        with JobFolder() as folder:
            # A job of many small steps holds the folder while the second one tries.
            job = self.saved_job(folder, {"train": {"max_steps": 0, "epochs": 100000}})
            first = subprocess.Popen([TRAIN, str(job)], stdout=subprocess.PIPE, text=True)
            try:
                first.stdout.readline()
                result = mpirun(2, TRAIN, job)
                self.assertIsNone(first.poll(), "the first job ended too early")
                self.refused(result, 3, str(folder / "saved"), str(first.pid))
            finally:
                first.kill()
                first.wait()
                first.stdout.close()

    def test_a_pipe_named_like_a_checkpoint(self):
        with JobFolder() as folder:
            job = self.saved_job(folder)
            (folder / "saved").mkdir()
            os.mkfifo(folder / "saved" / "step-0000000099.safetensors")
            self.refused(mpirun(2, TRAIN, job, timeout=60), 3, "step-0000000099")

    def test_ranks_that_mpi_does_not_join(self):
        # As with an mpirun of another MPI: each rank would be alone.
        with JobFolder() as folder:
            job = folder.write(SMALL)
            alone = dict(os.environ, OMPI_COMM_WORLD_SIZE="2", OMPI_COMM_WORLD_RANK="1")
            result = subprocess.run([TRAIN, job], env=alone, capture_output=True, text=True, timeout=60)
            self.refused(result, 3, "rank 1 of 2", "rank 0 of 1")

    def test_a_full_disk_behind_standard_output(self):
        for option in ("--print-defaults", "--list", "--help", "--version"):
            with self.subTest(option=option), open("/dev/full", "w") as full:
                result = subprocess.run([TRAIN, option], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(result.returncode, 3, result.stderr)
                self.assertIn("\n  to do: ", result.stderr)

    def test_closed_standard_streams_leave_files_alone(self):
        with JobFolder() as folder:
            job = self.saved_job(folder, {"report": {"folder": str(folder / "records")}})
            # The records must not be opened as descriptor 1, where progress goes.
            command = f'exec "{TRAIN}" "{job}" <&- >&- 2>&-'
            self.assertEqual(subprocess.run(["sh", "-c", command], timeout=60).returncode, 0)
            for line in (folder / "records" / "rank-0000.jsonl").read_text().splitlines():
                json.loads(line)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small tmpfs")
    def test_disk_full_while_saving_keeps_the_last_good_checkpoint(self):
        with JobFolder() as folder:
            (folder / "saved").mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", folder / "saved"], check=True)
            try:
                # 100 kB each: five fit, the next does not.
                job = self.saved_job(folder, {"train": {"max_steps": 60},
                                              "checkpoint": {"every_steps": 5, "keep": 50}})
                result = mpirun(2, TRAIN, job)
                self.refused(result, 3, "No space left", "step-")
                left = sorted(path.name for path in (folder / "saved").iterdir())
                good = [name for name in left if name.endswith(".safetensors")]
                self.assertEqual(left, sorted(["lock", *good]))
                self.assertGreaterEqual(len(good), 2)
                for name in good:
                    data = (folder / "saved" / name).read_bytes()
                    size = struct.unpack("<Q", data[:8])[0]
                    last = max(entry["data_offsets"][1] for key, entry in json.loads(data[8:8 + size]).items()
                               if key != "__metadata__")
                    self.assertEqual(len(data), 8 + size + last, name)
            finally:
                subprocess.run(["umount", folder / "saved"], check=True)


if __name__ == "__main__":
    unittest.main()
