"""The whole program egpu-topo."""

import json
import os
import subprocess
import tempfile
import unittest

SOURCE = os.environ["EGPU_SOURCE"]
PROGRAM = os.path.join(os.environ["EGPU_BIN"], "egpu-topo")
MACHINES = os.path.join(SOURCE, "tests/data/machines")
MAKE_MACHINE = os.path.join(SOURCE, "scripts/make_machine")


def run(*arguments, machine=None, **options):
    environment = {k: v for k, v in os.environ.items() if k != "EGPU_MACHINE"}
    if machine is not None:
        environment["EGPU_MACHINE"] = machine
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
        **options,
    )


class ShowTest(unittest.TestCase):
    def test_recorded_machine_as_text_and_json(self):
        machine = os.path.join(MACHINES, "tb4_rtx5090")
        text = run("show", "--machine", machine)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("RTX 5090", text.stdout)
        self.assertNotIn("\033", text.stdout)
        answer = run("show", "--json", "--machine=" + machine)
        document = json.loads(answer.stdout)
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(document["gpus"][1]["router"]["route"], "0-1")
        self.assertEqual(answer.stderr, "")

    def test_environment_is_the_default_machine(self):
        machine = os.path.join(MACHINES, "one_link_two_gpus")
        other = os.path.join(MACHINES, "tb4_rtx5090")
        self.assertIn("RTX 3090", run("show", machine=machine).stdout)
        chosen = run("show", "--machine", other, machine=machine)
        self.assertIn("RTX 5090", chosen.stdout)

    def test_this_pc(self):
        answer = run("show", "--json")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        document = json.loads(answer.stdout)
        self.assertFalse(document["recorded"])
        self.assertFalse(document["nvml"]["probed"])
        self.assertGreater(document["host"]["memory_bytes"], 0)
        self.assertIn("NVML not probed", run("show").stdout)

    def test_no_rate_of_a_tunnel_is_printed(self):
        for name in ("tb4_rtx5090", "one_link_two_gpus"):
            text = run("show", "--machine", os.path.join(MACHINES, name)).stdout
            self.assertNotIn("2.5 GT/s", text)

    def test_recorded_folders_are_what_their_descriptions_make(self):
        for name in ("tb4_rtx5090", "one_link_two_gpus"):
            with tempfile.TemporaryDirectory() as folder:
                made = os.path.join(folder, name)
                description = os.path.join(MACHINES, name + ".toml")
                subprocess.run([MAKE_MACHINE, description, made], check=True)
                subprocess.run(
                    ["diff", "-r", "--no-dereference", made,
                     os.path.join(MACHINES, name)],
                    check=True,
                )


class ErrorTest(unittest.TestCase):
    def check_error(self, answer, *words):
        self.assertEqual(answer.returncode, 2, answer.stdout)
        self.assertEqual(answer.stdout, "")
        lines = answer.stderr.splitlines()
        self.assertEqual(len(lines), 3, answer.stderr)
        self.assertTrue(lines[0].startswith("egpu-topo: "))
        self.assertTrue(lines[1].startswith("  found: "))
        self.assertTrue(lines[2].startswith("  to do: "))
        for word in words:
            self.assertIn(word, answer.stderr)

    def test_wrong_command_lines(self):
        self.check_error(run(), "no command")
        self.check_error(run("shwo"), "shwo", "--help")
        self.check_error(run("show", "--jsn"), "jsn")
        self.check_error(run("show", "extra"))
        self.check_error(run("show", "--machine"), "machine")
        self.check_error(run("show", "--machine", "a", "--machine", "b"))
        self.check_error(run("show", "--json=yes"))

    def test_wrong_machines(self):
        self.check_error(run("show", "--machine", "/nonexistent"), "/nonexistent")
        self.check_error(run("show", machine="/nonexistent"), "/nonexistent")
        self.check_error(run("show", "--machine", PROGRAM))
        with tempfile.TemporaryDirectory() as folder:
            self.check_error(run("show", "--machine", folder), "no sys/")
            os.mkdir(os.path.join(folder, "sys"))
            self.assertEqual(run("show", "--machine", folder).returncode, 0)
            with open(os.path.join(folder, "nvml.json"), "w") as file:
                file.write("{")
            self.check_error(run("show", "--machine", folder), "nvml.json")
            os.remove(os.path.join(folder, "nvml.json"))
            os.mkfifo(os.path.join(folder, "nvml.json"))
            self.check_error(run("show", "--machine", folder), "nvml.json")

    def test_full_disk_is_an_error(self):
        with open("/dev/full", "w") as full:
            answer = subprocess.run(
                [PROGRAM, "--help"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        self.assertEqual(answer.returncode, 1)
        self.assertIn("cannot print", answer.stderr)


class HelpTest(unittest.TestCase):
    def test_help_and_version(self):
        self.assertIn("show", run("--help").stdout)
        self.assertIn("--machine", run("show", "--help").stdout)
        self.assertRegex(run("--version").stdout, r"^egpu-topo \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
