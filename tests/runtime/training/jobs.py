"""Small training jobs for tests of whole programs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

BIN = pathlib.Path(os.environ["EGPU_BIN"])
TRAIN = str(BIN / "egpu-train")

# A job that takes seconds: 60 steps, the last batch of an epoch is not full.
SMALL = {
    "job": {"name": "small", "seed": 3},
    "model": {"name": "mlp", "hidden_units": 32, "hidden_layers": 2, "dropout": 0.1},
    "data": {"name": "synthetic", "train_samples": 1000, "test_samples": 100},
    "train": {
        "epochs": 4,
        "max_steps": 60,
        "batch_size": 64,
        "evaluate_every_epochs": 0,
        "threads": 1,
        "device": "cpu",
    },
    "report": {"progress": "always"},
}


def merged(*parts):
    """Job sections, later parts winning key by key."""
    result = {}
    for part in parts:
        for section, keys in part.items():
            result.setdefault(section, {}).update(keys)
    return result


def job_text(sections):
    lines = []
    for section, keys in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class JobFolder:
    """A temporary folder with a job file in it; all paths of the job lie inside."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="egpu-job-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def write(self, *parts, name="job.toml"):
        file = self.path / name
        file.write_text(job_text(merged(*parts)), encoding="utf-8")
        return file

    def __truediv__(self, name):
        return self.path / name


def mpirun(ranks, *words, **options):
    command = ["mpirun", "-np", str(ranks), "--oversubscribe", "--bind-to", "none", *map(str, words)]
    settings = {"capture_output": True, "text": True, "timeout": 300, **options}
    return subprocess.run(command, **settings)


def steps_of(folder, rank=0):
    """The step records of one rank, in order."""
    lines = (pathlib.Path(folder) / f"rank-{rank:04}.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return [record for record in records if record["type"] == "step"]
