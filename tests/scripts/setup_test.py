"""What scripts/setup says when it cannot or need not install anything."""
import os
import subprocess
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What the script itself needs of a system that has no dpkg.
PLAIN_PROGRAMS = ["bash", "cat", "dirname", "env"]


def setup(*arguments, **variables):
    environment = {**os.environ, **variables}
    environment.pop("EGPU_LIBTORCH" if "EGPU_LIBTORCH" not in variables else "", None)
    program = os.path.join(SOURCE, "scripts", "setup")
    return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True)


class Setup(unittest.TestCase):
    def test_check_lists_or_says_that_nothing_is_missing(self):
        result = setup("--check")
        says_missing = any(line.startswith("missing") for line in result.stdout.splitlines())
        self.assertEqual(result.returncode, 1 if says_missing else 0, result.stderr)
        if not says_missing:
            self.assertIn("nothing is missing", result.stdout)

    def test_unknown_option(self):
        result = setup("--fast")
        self.assertEqual(result.returncode, 2)
        self.assertIn("'--fast'", result.stderr)

    def test_given_libtorch_that_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            result = setup("--check", EGPU_LIBTORCH=folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("torch/torch.h", result.stderr)
        self.assertIn("to do:", result.stderr)

    def test_given_libtorch_is_used(self):
        with tempfile.TemporaryDirectory() as folder:
            header = os.path.join(folder, "include/torch/csrc/api/include/torch/torch.h")
            os.makedirs(os.path.dirname(header))
            with open(header, "w", encoding="utf-8"):
                pass
            result = setup("--check", EGPU_LIBTORCH=folder)
        self.assertIn(folder, result.stdout)
        self.assertNotIn("missing: libtorch", result.stdout)

    def test_another_system_gets_a_list(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in PLAIN_PROGRAMS:
                os.symlink(f"/bin/{name}", os.path.join(folder, name))
            result = setup(PATH=folder)
        self.assertEqual(result.returncode, 3, result.stderr)
        for word in ("Open MPI", "toml++", "iproute2", "EGPU_SKIP_SETUP"):
            self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
