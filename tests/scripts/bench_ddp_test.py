"""What scripts/bench_ddp computes from its runs, and wrong command lines."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["EGPU_SOURCE"])
sys.path.insert(0, str(SOURCE / "scripts"))

from bench import measure, pair, settings, table  # noqa: E402


def bench_ddp(*arguments):
    return subprocess.run([SOURCE / "scripts/bench_ddp", *arguments],
                          capture_output=True, text=True, timeout=60)


def run_of(step_ms, steps, sent):
    return {"step_ms": step_ms, "steps": steps, "sent_bytes": sent,
            "cpu_ms": 2000 + 50 * steps, "phases": {"exposed_ms": step_ms},
            "losses": [2.0] * steps}


class Side:
    """Answers prepared runs: first the short one."""

    def __init__(self, times, start, per_step):
        self.times, self.start, self.per_step = list(times), start, per_step

    def __call__(self, _, steps):
        return run_of(self.times.pop(0), steps,
                      self.start + steps * self.per_step)


class Computed(unittest.TestCase):
    def cell(self):
        given = settings.read_arguments(["--repeats", "3", "--steps", "10"])
        sides = {"ours": Side([99, 10, 30, 20], 5_000_000, 25_000_000),
                 "ddp 25": Side([99, 60, 50, 40], 9_000_000, 26_000_000),
                 "ddp 5": Side([99, 25, 30, 28], 7_000_000, 27_000_000)}
        with contextlib.redirect_stderr(io.StringIO()):
            return measure.one_cell(sides, 1.0, "none", given)

    def test_fastest_ddp_counts(self):
        cell = self.cell()
        self.assertEqual(cell["best_ddp"], "ddp 5")
        self.assertEqual(cell["ratio"], 28 / 20)

    def test_bytes_are_without_the_start(self):
        sides = self.cell()["sides"]
        self.assertEqual(sides["ours"]["step_bytes"], 25_000_000)
        self.assertEqual(sides["ddp 25"]["step_bytes"], 26_000_000)
        self.assertEqual(sides["ours"]["step_cpu_ms"], 50)

    def test_table(self):
        loss = measure.end_of([2.0] * 180 + [1.0] * 20)
        text = table.text({
            "cells": [self.cell()], "losses": [
                {"codec": "none", "steps": 200, "ours": loss, "ddp": loss,
                 "last_mean_difference": 0.0, "final_difference": 0.0}],
            "repeats": 3, "cores": 2, "kernel": "6.1", "seconds": 9.0,
            "load_before": (0.5, 0.5, 0.5)})
        self.assertIn("20.0 [10.0-30.0]", text)
        self.assertIn("1.400", text)
        self.assertIn("25.00", text)
        self.assertIn("exposed 20.0", text)
        self.assertIn("last 20 steps 1.0000 / 1.0000 (0.00% apart)", text)

    def test_slowest_rank_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank, times in enumerate(([5.0, 7.0], [6.0, 4.0])):
                rows = [{"type": "run", "rank": rank}] + [
                    {"type": "step", "step": i, "step_ms": ms, "loss": 1.5}
                    for i, ms in enumerate(times)]
                path = pathlib.Path(folder) / f"rank-{rank:04}.jsonl"
                path.write_text("".join(json.dumps(row) + "\n"
                                        for row in rows))
            rows = pair.read_records(folder)
        self.assertEqual(pair.slowest(rows), ([6.0, 7.0], [1.5, 1.5]))
        self.assertEqual(pair.phases(rows), {"step_ms": 5.5})

    def test_too_few_steps_are_refused(self):
        with self.assertRaisesRegex(pair.BenchError, "found: 2 steps"):
            pair.numbers([1.0, 1.0], [2.0, 2.0], {}, 3)


class CommandLine(unittest.TestCase):
    def test_wrong_values(self):
        for wrong in (["--rates", "0"], ["--rates", "nan"], ["--rates", ""],
                      ["--codecs", "zip"], ["--steps", "3"],
                      ["--repeats", "0"], ["--buckets", "-1"],
                      ["--json", "/no/such/folder/file"], ["--fast"]):
            with self.subTest(wrong=wrong):
                result = bench_ddp(*wrong)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertNotIn("Traceback", result.stderr)

    def test_missing_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            result = bench_ddp("--bin", folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("to do:", result.stderr)
        self.assertNotIn("Traceback", result.stderr)


if __name__ == "__main__":
    unittest.main()
