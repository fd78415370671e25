"""egpu-report as a whole program: tables, JSON and errors."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = pathlib.Path(os.environ["EGPU_BIN"]) / "egpu-report"

RUN = {
    "type": "run", "job_name": "demo", "model": "cnn", "codec": "none",
    "device": "cpu", "host": "pc1", "rank": 0, "world_size": 1,
    "local_rank": 0, "parameters": 10, "global_batch_size": 32,
    "first_step": 0, "started_at": "2024-05-01T12:00:00Z",
}
STEP = {
    "type": "step", "epoch": 0, "step": 0, "step_ms": 10.0, "data_ms": 1.0,
    "forward_ms": 2.0, "backward_ms": 3.0, "exposed_ms": 1.0,
    "optimizer_ms": 1.0, "communication_ms": 2.0, "samples": 32,
    "global_samples": 32, "loss": 2.0, "learning_rate": 0.1,
    "gradient_bytes": 40, "sent_bytes": 20, "received_bytes": 20, "buckets": 1,
}


class EgpuReport(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)

    def write_run(self, name, world_size, step_ms):
        folder = self.root / name
        folder.mkdir()
        for rank in range(world_size):
            run = dict(RUN, rank=rank, world_size=world_size,
                       host=f"pc{rank + 1}")
            lines = [run] + [dict(STEP, step=i, step_ms=step_ms)
                             for i in range(8)]
            (folder / f"rank-{rank:04}.jsonl").write_text(
                "".join(json.dumps(line) + "\n" for line in lines))
        return folder

    def report(self, *arguments, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], text=True,
                              capture_output=True, timeout=60, **options)

    def assert_refused(self, result, *parts):
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertTrue(lines[0].startswith("egpu-report: "))
        self.assertTrue(lines[1].startswith("  found: "))
        self.assertTrue(lines[2].startswith("  to do: "))
        for part in parts:
            self.assertIn(part, result.stderr)

    def test_table_and_json(self):
        folder = self.write_run("two", 2, 10.0)
        alone = self.write_run("one", 1, 16.0)
        result = self.report(folder, "--baseline", alone)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("6 measured (2 left out as warm-up)", result.stdout)
        self.assertRegex(result.stdout, r"throughput \[samples/s\] +3200\.0")
        self.assertRegex(result.stdout, r"scaling efficiency \[%\] +80\.0")
        numbers = json.loads(
            self.report(folder, "--baseline", alone, "--json").stdout)
        self.assertAlmostEqual(numbers["scaling_efficiency"], 0.8)
        self.assertEqual([r["host"] for r in numbers["ranks"]],
                         ["pc1", "pc2"])

    def test_range_and_warmup(self):
        folder = self.write_run("run", 1, 10.0)
        for options, measured in ((("--steps", "2..4"), 3),
                                  (("--steps", "7"), 1),
                                  (("--warmup", "0"), 8)):
            result = self.report(folder, "--json", *options)
            self.assertEqual(json.loads(result.stdout)["measured_steps"],
                             measured)

    def test_help_and_version(self):
        result = self.report("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--baseline", result.stdout)
        self.assertNotIn("--folder", result.stdout)
        self.assertRegex(self.report("--version").stdout,
                         r"^egpu-report \d+\.\d+\.\d+\n$")

    def test_bad_input(self):
        empty = self.root / "empty"
        empty.mkdir()
        good = self.write_run("good", 1, 10.0)
        bad = self.write_run("bad", 1, 10.0)
        with open(bad / "rank-0000.jsonl", "a") as file:
            file.write("oops\n")
        self.assert_refused(self.report(), "no folder on the command line")
        self.assert_refused(self.report(self.root / "missing"), "missing")
        self.assert_refused(self.report(empty), "no records")
        self.assert_refused(self.report(bad), "rank-0000.jsonl:10")
        self.assert_refused(self.report(good, "--nonsense"), "nonsense")
        self.assert_refused(self.report(good, good), "egpu-report --help")
        self.assert_refused(self.report(good, "--steps", "a..b"), '"a"')
        self.assert_refused(self.report(good, "--steps", "90..99"), "no step")
        self.assert_refused(self.report(good, "--warmup", "-1"), '"-1"')
        self.assert_refused(
            self.report(good, "--baseline", self.write_run("two", 2, 10.0)),
            "several ranks")

    def test_full_output_is_an_error(self):
        folder = self.write_run("run", 1, 10.0)
        with open("/dev/full", "w") as full:
            result = subprocess.run([PROGRAM, folder], stdout=full, text=True,
                                    stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn("cannot print the report", result.stderr)


if __name__ == "__main__":
    unittest.main()
